// Trains new last layers for ONNX models.
#pragma once

#include <memory>

#include "pipeline/archive/archive.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// See open_trainer(). The base needs an output "features", from which its last layer makes the
// scores: export.py writes it.
std::unique_ptr<Trainer> open_onnx_trainer(const ModelArchive& archive,
                                           const TrainerOptions& options);

}  // namespace lookout

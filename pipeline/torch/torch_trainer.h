// Trains new last layers for TorchScript archives with LibTorch.
#pragma once

#include <memory>

#include "pipeline/archive/archive.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// See open_trainer(): loads the base, which runs the archive's code. Its threads belong to the
// process, as those of open_torch_model() do. write() attaches producer_info.json by LibTorch's
// hook for files of saved modules.
std::unique_ptr<Trainer> open_torch_trainer(const ModelArchive& archive,
                                            const TrainerOptions& options);

}  // namespace lookout

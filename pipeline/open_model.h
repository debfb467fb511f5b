// Opens a model archive with the engine that it is made for.
#pragma once

#include <memory>

#include "pipeline/classifier.h"
#include "pipeline/model/archive.h"
#include "pipeline/model/engine_facts.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// Loads the model, which runs the archive's code, and runs it until it is warm. The format of the
// archive decides the engine: TorchScript archives run on LibTorch. The archive is not needed any
// more afterwards.
// Throws Error(kBadData) for anything wrong with the archive, its spec or its labels,
// Error(kInternal) when the engine's library lacks what it needs, Error(kUnsupported) when the
// engine's module is missing.
std::unique_ptr<Classifier> open_model(const ModelArchive& archive,
                                       const ClassifierOptions& options);

// Loads a base, of which new models are made, and cuts it before its last layer. `threads`: that
// compute an embedding. Throws as open_model(), and Error(kBadData) when the base's last layer is
// not linear.
std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, int threads);

// Facts about LibTorch, the library that runs the models. Throws Error(kUnsupported) when the
// engine's module is missing.
EngineFacts engine_facts();

// From now on the debug log names each feature that the engine's library reports as used, once.
// Call it before the first open_model(). Throws as engine_facts().
void log_engine_features();

}  // namespace lookout

// Opens a model archive with the engine that it is made for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "pipeline/classifier.h"

namespace lookout {

// Loads the model and runs it until it is warm. The format of the archive decides the engine:
// TorchScript archives run on LibTorch.
// Throws Error(kNoInput) when there is no such file, Error(kPermission) when it may not be read,
// Error(kBadData) for anything wrong with the archive, its spec or its labels, Error(kInternal)
// when the engine's library lacks what it needs.
std::unique_ptr<Classifier> open_model(const std::filesystem::path& archive,
                                       const ClassifierOptions& options);

// Version of LibTorch, the library that runs the models.
std::string engine_version();

// From now on the debug log names each feature that the engine's library reports as used, once.
// Call it before the first open_model().
void log_engine_features();

}  // namespace lookout

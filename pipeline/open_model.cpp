#include "pipeline/open_model.h"

#include "pipeline/torch/torch_classifier.h"

namespace lookout {

// TorchScript is the only format so far: TorchClassifier refuses every other file.
std::unique_ptr<Classifier> open_model(const std::filesystem::path& archive,
                                       const ClassifierOptions& options) {
  return std::make_unique<TorchClassifier>(archive, options);
}

std::string engine_version() { return libtorch_facts().version; }

void log_engine_features() { log_libtorch_features(); }

}  // namespace lookout

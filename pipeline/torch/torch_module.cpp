#include "pipeline/torch/torch_module.h"

#include "pipeline/torch/torch_classifier.h"

namespace lookout {
namespace {

std::unique_ptr<Classifier> open(const ModelArchive& archive, const ClassifierOptions& options) {
  return std::make_unique<TorchClassifier>(archive, options);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::TorchModule* lookout_torch() {
  static const lookout::TorchModule module{{lookout::kTorchInterface, LOOKOUT_VERSION},
                                           lookout::open,
                                           lookout::libtorch_facts,
                                           lookout::log_libtorch_features};
  return &module;
}

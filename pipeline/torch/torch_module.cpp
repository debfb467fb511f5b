#include "pipeline/torch/torch_module.h"

#include "pipeline/torch/torch_classifier.h"
#include "pipeline/torch/torch_trainer.h"

namespace lookout {
namespace {

std::unique_ptr<Classifier> open(const ModelArchive& archive, const ClassifierOptions& options) {
  return std::make_unique<TorchClassifier>(archive, options);
}

std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, int threads) {
  return std::make_unique<TorchTrainer>(archive, threads);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::TorchModule* lookout_torch() {
  static const lookout::TorchModule module{{lookout::kTorchInterface, LOOKOUT_VERSION},
                                           lookout::open,
                                           lookout::open_trainer,
                                           lookout::libtorch_facts,
                                           lookout::log_libtorch_features};
  return &module;
}

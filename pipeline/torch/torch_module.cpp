#include <algorithm>

#include "pipeline/run/engine_module.h"
#include "pipeline/torch/torch_classifier.h"
#include "pipeline/torch/torch_trainer.h"

namespace lookout {
namespace {

// Each has weights of its own: a module's forward() may change it.
std::vector<std::unique_ptr<Classifier>> open(const ModelArchive& archive,
                                              const ClassifierOptions& options, int count) {
  std::vector<std::unique_ptr<Classifier>> classifiers(static_cast<std::size_t>(count));
  std::generate(classifiers.begin(), classifiers.end(),
                [&] { return open_torch_model(archive, options); });
  return classifiers;
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::EngineModule* lookout_engine() {
  static const lookout::EngineModule module{{lookout::kEngineInterface, LOOKOUT_VERSION},
                                            lookout::open,
                                            lookout::open_torch_trainer,
                                            lookout::libtorch_facts,
                                            lookout::log_libtorch_api_usage,
                                            lookout::libtorch_api_usage};
  return &module;
}

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

std::vector<std::shared_ptr<Backbone>> open_backbones(const ModelArchive& base,
                                                      const ClassifierOptions& options, int count) {
  std::vector<std::shared_ptr<Backbone>> backbones(static_cast<std::size_t>(count));
  std::generate(backbones.begin(), backbones.end(),
                [&] { return open_torch_backbone(base, options); });
  return backbones;
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::EngineModule* lookout_engine() {
  static const lookout::EngineModule module{{lookout::kEngineInterface, LOOKOUT_VERSION},
                                            lookout::open,
                                            lookout::open_backbones,
                                            lookout::open_torch_trainer,
                                            lookout::libtorch_facts,
                                            lookout::log_libtorch_api_usage,
                                            lookout::libtorch_api_usage};
  return &module;
}

#include "pipeline/engine_module.h"
#include "pipeline/onnx/onnx_classifier.h"
#include "pipeline/onnx/onnx_trainer.h"

namespace lookout {
namespace {

std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, int threads) {
  return std::make_unique<OnnxTrainer>(archive, threads);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::EngineModule* lookout_engine() {
  static const lookout::EngineModule module{{lookout::kEngineInterface, LOOKOUT_VERSION},
                                            lookout::OnnxClassifier::open,
                                            lookout::open_trainer,
                                            lookout::onnxruntime_facts,
                                            /*log_features=*/nullptr};
  return &module;
}

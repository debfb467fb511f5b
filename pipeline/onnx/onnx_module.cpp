#include "pipeline/engine_module.h"
#include "pipeline/onnx/onnx_classifier.h"

extern "C" const lookout::EngineModule* lookout_engine() {
  static const lookout::EngineModule module{{lookout::kEngineInterface, LOOKOUT_VERSION},
                                            lookout::OnnxClassifier::open,
                                            /*open_trainer=*/nullptr,
                                            lookout::onnxruntime_facts,
                                            /*log_features=*/nullptr};
  return &module;
}

#include "pipeline/onnx/onnx_classifier.h"
#include "pipeline/onnx/onnx_trainer.h"
#include "pipeline/run/engine_module.h"

extern "C" const lookout::EngineModule* lookout_engine() {
  static const lookout::EngineModule module{{lookout::kEngineInterface, LOOKOUT_VERSION},
                                            lookout::open_onnx_models,
                                            lookout::open_onnx_backbones,
                                            lookout::open_onnx_trainer,
                                            lookout::onnxruntime_facts,
                                            /*log_api_usage=*/nullptr,
                                            nullptr};
  return &module;
}

#include "pipeline/archive/engine_facts.h"

namespace lookout {

const char* to_text(Engine engine) {
  return engine == Engine::kTorch ? "LibTorch" : "ONNX Runtime";
}

}  // namespace lookout

// The engines that run models, and facts about their libraries.
#pragma once

#include <string>
#include <vector>

namespace lookout {

enum class Engine { kTorch, kOnnxRuntime };
inline constexpr Engine kEngines[] = {Engine::kTorch, Engine::kOnnxRuntime};

// "LibTorch", "ONNX Runtime": the library.
const char* to_text(Engine engine);

struct EngineFacts {
  std::string version;
  std::vector<std::string> engines;  // within the library, of which one is used
  std::string lack;  // of what lookout requires: "QNNPACK is needed"; empty: nothing
  std::string used;  // the one that is used: "QNNPACK"
};

}  // namespace lookout

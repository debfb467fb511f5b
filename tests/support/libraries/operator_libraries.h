// Libraries of operators that the build makes for tests.
#pragma once

#include <string>

#include "paths.h"

namespace lookout {

// "lookout_example_torch", "lookout_example_onnx": the example of models/operators. "..._again":
// the same in another file. "wrong_...": of wrong_operators.cpp.
inline std::string operator_library(const std::string& name) {
  return std::string(LOOKOUT_OPERATORS) + "/lib" + name + ".so";
}

}  // namespace lookout

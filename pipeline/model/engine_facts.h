// Facts about an engine's library itself.
#pragma once

#include <string>
#include <vector>

namespace lookout {

struct EngineFacts {
  std::string version;
  std::vector<std::string> engines;  // quantized engines that the library was built with
  bool has_qnnpack = false;          // QNNPACK, which lookout requires, is one of them
};

}  // namespace lookout

// The error of a device that is there but is no camera that lookout can read.
#pragma once

#include <string>

#include "pipeline/core/error.h"

namespace lookout {

// The named device exists and stays what it is: a codec, a metadata node, a sensor that only
// libcamera can read, a camera without a readable format. Waiting for it does not help, unlike for
// other errors of kind kNoInput. The kind is the same, since the user named the wrong input.
class UnusableDevice : public Error {
 public:
  explicit UnusableDevice(const std::string& sentence) : Error(ErrorKind::kNoInput, sentence) {}
};

}  // namespace lookout

// Whether a camera is there.
#pragma once

#include <chrono>

namespace lookout {

struct CameraStatus {
  bool online = true;
  std::chrono::system_clock::time_point since;  // wall clock time of the last change
};

}  // namespace lookout

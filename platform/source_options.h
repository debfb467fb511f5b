// What the user asked of a source.
#pragma once

#include <chrono>
#include <optional>

namespace lookout {

struct SourceOptions {
  std::optional<int> width;                    // pixels
  std::optional<int> height;                   // pixels
  std::optional<double> framerate;             // frames a second
  std::chrono::milliseconds give_up_after{0};  // that a camera was lost; 0: never
};

}  // namespace lookout

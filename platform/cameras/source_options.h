// What the user asked of a source.
#pragma once

#include <chrono>
#include <optional>

namespace lookout {

struct SourceOptions {
  std::optional<int> width;         // pixels
  std::optional<int> height;        // pixels
  std::optional<double> framerate;  // frames a second
  // Pixels that the model makes use of: of a camera whose width or height is not said, the smallest
  // size is taken that has them.
  int needed_width = 224;
  int needed_height = 224;
  std::chrono::milliseconds give_up_after{0};  // that a camera was lost; 0: never
  bool wait = false;  // for a camera that is not there yet; else that is an error
};

}  // namespace lookout

// What the user asked of a source by --width, --height and --framerate.
#pragma once

#include <optional>

namespace lookout {

struct SourceOptions {
  std::optional<int> width;         // pixels
  std::optional<int> height;        // pixels
  std::optional<double> framerate;  // frames a second
};

}  // namespace lookout

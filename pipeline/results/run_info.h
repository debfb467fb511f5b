// The facts of a run that do not change, whatever models it has.
#pragma once

#include <string>

namespace lookout {

// Constant from the start of a run to its end; every reporter may keep a copy.
struct RunInfo {
  std::string camera;  // its name in results
  // A description: "/dev/video0: 640x480 YUYV at 30 fps". Empty: there is no source.
  std::string source{};
  bool live = false;  // frames come whether or not somebody waits for them
  // The part of the upright picture that is classified, of which ModelInfo::input chooses: x, y,
  // width and height as fractions of it, a JSON array; empty: not known.
  std::string roi{};
};

}  // namespace lookout

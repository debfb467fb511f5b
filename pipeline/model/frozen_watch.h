// Tells a camera that hangs from a scene that is still.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "pipeline/core/frame.h"
#include "pipeline/core/luma_blocks.h"

namespace lookout {

// A sensor has noise: frames of a live camera are never equal to the last byte. A camera, driver or
// adapter that hangs sends the same frame again and again. Not for virtual cameras and test
// sources, whose pictures may be equal. By one thread at a time.
class FrozenWatch {
 public:
  static constexpr std::chrono::seconds kPatience{10};

  // Whether frames have been equal for kPatience: true once, and again only after another frame
  // came. `blocks` are the frame's. An even picture is never frozen: in the dark, or with its lens
  // covered, a camera may send the same black frame for hours.
  //
  // All bytes of a JPEG are looked at, 1 in 31 of other pictures.
  bool is_frozen(const Frame& frame, const LumaBlocks& blocks);

  // The camera was opened again. While it goes on with the frame that was told, that is not told
  // again: opening it helps no more.
  void forget() { since_.reset(); }

 private:
  std::uint64_t hash_ = 0;
  std::optional<Clock::time_point> since_;  // when the first of the equal frames was captured
  bool told_ = false;
};

}  // namespace lookout

// The moments at which the frames of a paced source are due.
#pragma once

#include <chrono>
#include <optional>

#include "pipeline/core/frame.h"

namespace lookout {

// Frames whose time has gone by when the reader comes are left out, not made up for.
class Pacer {
 public:
  // `fps`: 0: every frame is due at once.
  explicit Pacer(double fps);

  // Sleeps at most `timeout`; false: the frame is not due yet. The first one is due at once.
  bool wait(std::chrono::milliseconds timeout);

  // When the frame was due that wait() returned true for, then makes the next one due a period
  // later. Without a rate it is now.
  Clock::time_point take();

 private:
  Clock::duration period_{};                   // zero when not paced
  std::optional<Clock::time_point> next_due_;  // nothing before the first wait
};

}  // namespace lookout

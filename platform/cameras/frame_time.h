// When a frame was captured, by the time stamp of its driver: one rule for all cameras.
#pragma once

#include <chrono>

#include "pipeline/core/frame.h"

namespace lookout {

// Older stamps come from another clock, whatever the driver says: no driver keeps a frame so long.
inline constexpr std::chrono::seconds kMaxFrameAge{10};

// `stamp` if it is at most kMaxFrameAge before `now`, else `now`. That holds for every stamp in the
// future, even one that is close, as of a driver that stamps the end of an exposure beforehand: no
// frame has a negative age.
Clock::time_point frame_time(Clock::time_point stamp, Clock::time_point now);

// Two clocks, read at one moment. CLOCK_BOOTTIME also counts the time that the machine slept.
struct ClockPair {
  Clock::time_point monotonic;
  std::chrono::nanoseconds boottime{};
};

ClockPair read_clocks();

// The same for a sensor's stamp of libcamera's, which is documented to be of CLOCK_BOOTTIME, but
// some drivers take it from CLOCK_MONOTONIC: the clock by which it is at most kMaxFrameAge old,
// else `now.monotonic`.
Clock::time_point sensor_frame_time(std::chrono::nanoseconds stamp, const ClockPair& now);

}  // namespace lookout

// The time of a frame, as sensors tell it.
#pragma once

#include <chrono>

#include "pipeline/frame.h"

namespace lookout {

// What two clocks showed at one moment: CLOCK_BOOTTIME also counts the time asleep.
struct ClockPair {
  Clock::time_point monotonic;
  std::chrono::nanoseconds boottime{};
};

ClockPair read_clocks();

// The time of `stamp`, which libcamera documents to be of CLOCK_BOOTTIME and some of its drivers
// take from CLOCK_MONOTONIC: the one that was a moment ago. `now.monotonic` when neither was.
Clock::time_point time_of_sensor(std::chrono::nanoseconds stamp, const ClockPair& now);

}  // namespace lookout

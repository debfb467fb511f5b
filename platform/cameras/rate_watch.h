// Notices a camera that sends fewer frames than it promised.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "pipeline/core/frame.h"

namespace lookout {

class RateWatch {
 public:
  // The first frames of a camera come irregularly and are ignored. Then the rate is measured over a
  // window. Two slow windows in a row count; a single one may mean that the process was stopped.
  static constexpr std::chrono::seconds kSettling{2};
  static constexpr std::chrono::seconds kWindow{5};
  static constexpr double kTooFew = 0.9;  // of the frames that were expected

  // Call after a pause. frame() still returns a rate only once.
  void restart();

  // Call with the time of each frame and the frames a second that are expected (0: any will do).
  // Returns the measured rate the first time that it is too low.
  std::optional<double> frame(Clock::time_point captured, double expected);

 private:
  std::optional<Clock::time_point> first_;  // since the last restart
  std::optional<Clock::time_point> window_start_;
  std::int64_t periods_ = 0;  // in the window
  bool was_slow_ = false;     // in the window before
  bool logged_ = false;
};

}  // namespace lookout

#include "platform/cameras/rate_watch.h"

namespace lookout {

void RateWatch::restart() {
  first_.reset();
  window_start_.reset();
  was_slow_ = false;
}

std::optional<double> RateWatch::frame(Clock::time_point captured, double expected) {
  if (logged_) return std::nullopt;
  if (!first_) first_ = captured;
  if (!window_start_) {
    if (captured - *first_ < kSettling) return std::nullopt;
    window_start_ = captured;
    periods_ = 0;
    return std::nullopt;
  }
  ++periods_;
  const std::chrono::duration<double> passed = captured - *window_start_;
  if (passed < kWindow) return std::nullopt;
  const double rate = static_cast<double>(periods_) / passed.count();
  window_start_ = captured;
  periods_ = 0;
  const bool slow = rate < kTooFew * expected;
  logged_ = slow && was_slow_;
  was_slow_ = slow;
  return logged_ ? std::optional(rate) : std::nullopt;
}

}  // namespace lookout

#include "pipeline/run/classification_rate.h"

#include <algorithm>
#include <cmath>

namespace lookout {

void ClassificationRate::set(std::optional<double> rate) {
  constexpr double kSecond = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
  interval_ = Duration(rate ? std::llround(kSecond / *rate) : 0);
}

bool ClassificationRate::wanted(Duration time) {
  const bool is_first = !last_time_ || time < *last_time_;
  if (is_first) {
    frame_interval_ = Duration(0);
  } else {
    observe(time);
  }
  last_time_ = time;
  const Duration next = point_ + interval_;
  if (is_first || interval_.count() == 0) {
    point_ = time;
    return true;
  }
  if (time < next - std::min(frame_interval_, interval_) / 2) return false;
  // Later than the nearest frame can be: frames were missing, or the camera is slower than the
  // rate.
  point_ = time - next > frame_interval_ ? time : next;
  return true;
}

// The mean of about the last eight intervals. A pause says little about the frames that follow: it
// counts as two, or, as long as nothing else is known, as one point's.
void ClassificationRate::observe(Duration time) {
  constexpr int kFrames = 8;
  const Duration interval = time - *last_time_;
  if (frame_interval_.count() == 0) {
    frame_interval_ = std::min(interval, interval_);
  } else {
    frame_interval_ += (std::min(interval, 2 * frame_interval_) - frame_interval_) / kFrames;
  }
}

}  // namespace lookout

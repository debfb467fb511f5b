#include "platform/sources/pacer.h"

#include <algorithm>
#include <thread>

namespace lookout {

Pacer::Pacer(double fps) {
  if (fps <= 0) return;
  period_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / fps));
}

// On success, paced, next_due_ is less than a period ago.
bool Pacer::wait(std::chrono::milliseconds timeout) {
  if (period_ == Clock::duration::zero()) return true;
  auto now = Clock::now();
  if (!next_due_) next_due_ = now;
  if (now < *next_due_) {
    std::this_thread::sleep_until(std::min(*next_due_, now + timeout));
    now = Clock::now();
    if (now < *next_due_) return false;
  }
  *next_due_ += (now - *next_due_) / period_ * period_;
  return true;
}

Clock::time_point Pacer::take() {
  if (!next_due_) return Clock::now();
  const auto due = *next_due_;
  *next_due_ += period_;
  return due;
}

}  // namespace lookout

#include "platform/http/live_slots.h"

#include <utility>

namespace lookout {

void LiveSlots::set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

void LiveSlots::wake() const {
  if (wake_) wake_();
}

void LiveSlots::put(const Result& result, const Frame& frame) {
  const bool wanted = picture_wanted_.exchange(false);
  std::optional<LivePicture> picture;
  if (wanted) picture = LivePicture{frame.bgr.clone(), result.sequence, result.timestamp};
  {
    const MutexLock lock(mutex_);
    result_.result = result;
    result_.origin = frame.origin;
    result_.ready = Clock::now();
    ++counts_.results;
    if (result.state_changed) {
      change_ = result_;
      ++counts_.changes;
    }
    if (picture) picture_ = std::move(picture);
  }
  if (wanted || (result.state_changed && listened_)) wake();
}

void LiveSlots::put(const StatsSnapshot& stats) {
  {
    const MutexLock lock(mutex_);
    stats_ = stats;
    ++counts_.stats;
  }
  if (listened_) wake();
}

void LiveSlots::put(const CameraStatus& status) {
  {
    const MutexLock lock(mutex_);
    status_ = status;
    ++counts_.statuses;
  }
  if (listened_) wake();
}

std::optional<LivePicture> LiveSlots::take_picture() {
  const MutexLock lock(mutex_);
  return std::exchange(picture_, std::nullopt);
}

std::optional<LiveResult> LiveSlots::result() const {
  const MutexLock lock(mutex_);
  return counts_.results > 0 ? std::optional(result_) : std::nullopt;
}

std::optional<LiveResult> LiveSlots::last_change() const {
  const MutexLock lock(mutex_);
  return counts_.changes > 0 ? std::optional(change_) : std::nullopt;
}

std::optional<StatsSnapshot> LiveSlots::stats() const {
  const MutexLock lock(mutex_);
  return counts_.stats > 0 ? std::optional(stats_) : std::nullopt;
}

CameraStatus LiveSlots::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

LiveSlots::Counts LiveSlots::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace lookout

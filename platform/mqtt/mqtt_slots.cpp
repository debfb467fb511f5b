#include "platform/mqtt/mqtt_slots.h"

#include <utility>

namespace lookout {
namespace {

// Whether it was wanted; it is not any more.
bool take_flag(std::atomic<bool>& wanted) { return wanted && wanted.exchange(false); }

}  // namespace

void MqttSlots::put(const Result& result, const Frame& frame) {
  const bool changed = result.state_changed;
  const bool with_picture =
      take_flag(picture_wanted_) || (changed && take_flag(change_picture_wanted_));
  const bool with_result = take_flag(result_wanted_);
  if (!changed && !with_picture && !with_result) return;
  std::optional<cv::Mat> picture;
  if (with_picture) picture = frame.bgr.clone();
  {
    const MutexLock lock(mutex_);
    if (changed) {
      news_.change = MqttResult{result, frame.origin};
      ++news_.changes;
    }
    if (with_result) news_.result = MqttResult{result, frame.origin};
    if (picture) news_.picture = std::move(picture);
  }
  if (wake_) wake_();
}

void MqttSlots::put(const StatsSnapshot& stats) {
  {
    const MutexLock lock(mutex_);
    news_.stats = stats;
  }
  if (wake_) wake_();
}

void MqttSlots::put(const CameraStatus& status) {
  {
    const MutexLock lock(mutex_);
    news_.status = status;
  }
  if (wake_) wake_();
}

MqttNews MqttSlots::take() {
  const MutexLock lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace lookout

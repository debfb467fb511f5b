#include "platform/mqtt/mqtt_switch.h"

#include <utility>

#include "pipeline/core/log.h"

namespace lookout {

void MqttSwitch::command(bool enabled, Clock::time_point now) {
  if (!can_switch()) return;
  if (now - last_command_ >= kRest) lines_ = 0;
  last_command_ = now;
  wanted_ = enabled;
}

bool MqttSwitch::advance(Clock::time_point now) {
  if (!wanted_ || now < next_) return false;
  next_ = now + kBetween;
  const bool wanted = *std::exchange(wanted_, std::nullopt);
  const bool changes = std::exchange(enabled_, wanted) != wanted;
  if (changes && ++lines_ <= kLines + 1) log();
  enable_(wanted);
  return true;
}

void MqttSwitch::log() const {
  if (lines_ > kLines) {
    log_warn(
        "mqtt: commands switch the camera on and off again and again: not logged any more until "
        "there is none for a minute; is an automation to blame?");
    return;
  }
  log_info("mqtt: {} by a command", enabled_ ? "switched on" : "switched off");
}

}  // namespace lookout

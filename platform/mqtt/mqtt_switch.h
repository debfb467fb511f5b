// Commands that switch the camera on and off.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "pipeline/core/frame.h"

namespace lookout {

// However fast commands come, the newest counts, once a second. Used by one thread.
class MqttSwitch {
 public:
  static constexpr std::chrono::seconds kBetween{1};
  // Lines in the log: that many, and one that says that there are more; as many again after a
  // minute without a command.
  static constexpr int kLines = 10;
  static constexpr std::chrono::minutes kRest{1};

  // `enable` pauses the source (false) or lets it run; empty: it cannot be paused, and commands are
  // ignored.
  explicit MqttSwitch(std::function<void(bool)> enable) : enable_(std::move(enable)) {}

  bool can_switch() const { return static_cast<bool>(enable_); }
  bool enabled() const { return enabled_; }

  void command(bool enabled, Clock::time_point now);
  // Carries out what is due. Returns whether a command was carried out, which may have changed
  // nothing.
  bool advance(Clock::time_point now);
  // When advance() has to be called.
  Clock::time_point next_due() const { return wanted_ ? next_ : Clock::time_point::max(); }

 private:
  void log() const;

  const std::function<void(bool)> enable_;
  bool enabled_ = true;
  std::optional<bool> wanted_;
  Clock::time_point next_;
  Clock::time_point last_command_;
  int lines_ = 0;  // since the last rest
};

}  // namespace lookout

#include "platform/reporters/systemd_notifier.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr bool kKeepEnvironment = false;
constexpr auto kShortestStatus = std::chrono::seconds(1);

// A refused message is not worth ending for.
void send(const std::string& message) { sd_notify(kKeepEnvironment, message.c_str()); }

}  // namespace

SystemdNotifier::SystemdNotifier() : enabled_(std::getenv("NOTIFY_SOCKET") != nullptr) {
  std::uint64_t microseconds = 0;
  if (!enabled_ || sd_watchdog_enabled(kKeepEnvironment, &microseconds) <= 0) return;
  watchdog_period_ = std::chrono::microseconds(microseconds / 2);
}

SystemdNotifier::~SystemdNotifier() { stopping(); }

void SystemdNotifier::report(const Result& result, const Frame& /*frame*/) {
  if (!enabled_) return;
  const bool first = !std::exchange(seen_, true);
  if (first || result.state.name() != state_) {
    state_ = result.state.name();
    unsaid_ = true;
  }
  say_ready();
  say_status();
}

void SystemdNotifier::tick(const StatsSnapshot& stats) {
  fps_ = stats.classified_fps;
  machine_ = to_text(stats.machine);
  unsaid_ = true;
  if (stats.final) {
    stopping();
  } else {
    say_status();
  }
}

void SystemdNotifier::status(const CameraStatus& status) {
  camera_ = status;
  unsaid_ = true;
  say_ready();
  say_status();
}

void SystemdNotifier::beat() {
  say_status();
  if (watchdog_period_ == Clock::duration::zero()) return;
  const auto now = Clock::now();
  if (now - last_beat_ < watchdog_period_) return;
  last_beat_ = now;
  send("WATCHDOG=1");
}

void SystemdNotifier::say_ready() {
  if (enabled_ && !ready_) send("READY=1");
  ready_ = true;
}

void SystemdNotifier::stopping() {
  if (!enabled_ || stopping_) return;
  stopping_ = true;
  send("STOPPING=1\nSTATUS=stopping");
}

// What is left unsaid for the sake of the rate is said with a later beat.
void SystemdNotifier::say_status() {
  if (!enabled_ || !ready_ || !unsaid_) return;
  const auto now = Clock::now();
  if (last_status_ && now - *last_status_ < kShortestStatus) return;
  std::string status = "STATUS=";
  if (!camera_.online) {
    status += seen_ ? "camera offline" : "waiting for the camera";
  } else {
    if (fps_) status += fmt::format("{:.1f} fps: ", *fps_);
    status += state_.empty() ? "no state yet" : state_;
  }
  if (!machine_.empty()) status += "; " + machine_;
  send(status);
  last_status_ = now;
  unsaid_ = false;
}

}  // namespace lookout

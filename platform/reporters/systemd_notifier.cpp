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
constexpr auto kMinStatusInterval = std::chrono::seconds(1);

// A message that systemd refuses does not end the program.
void send(const std::string& message) { sd_notify(kKeepEnvironment, message.c_str()); }

}  // namespace

SystemdNotifier::SystemdNotifier(bool has_source)
    : has_source_(has_source), enabled_(std::getenv("NOTIFY_SOCKET") != nullptr) {
  std::uint64_t microseconds = 0;
  if (!enabled_ || sd_watchdog_enabled(kKeepEnvironment, &microseconds) <= 0) return;
  watchdog_period_ = std::chrono::microseconds(microseconds / 2);
}

SystemdNotifier::~SystemdNotifier() { send_stopping(); }

void SystemdNotifier::report(const Result& result, const Frame& /*frame*/) {
  if (!enabled_) return;
  const bool first = !std::exchange(has_result_, true);
  if (first || result.state.name() != state_) {
    state_ = result.state.name();
    status_is_new_ = true;
  }
  send_ready();
  send_status();
}

void SystemdNotifier::tick(const StatsSnapshot& stats) {
  fps_ = stats.classified_fps;
  machine_ = to_text(stats.machine);
  status_is_new_ = true;
  if (stats.final) {
    send_stopping();
  } else {
    send_status();
  }
}

void SystemdNotifier::status(const CameraStatus& status) {
  camera_ = status;
  status_is_new_ = true;
  send_ready();
  send_status();
}

void SystemdNotifier::poll() {
  if (!has_source_) send_ready();
  send_status();
  if (watchdog_period_ == Clock::duration::zero()) return;
  const auto now = Clock::now();
  if (now - last_watchdog_ < watchdog_period_) return;
  last_watchdog_ = now;
  send("WATCHDOG=1");
}

void SystemdNotifier::send_ready() {
  if (enabled_ && !ready_sent_) send("READY=1");
  ready_sent_ = true;
}

void SystemdNotifier::send_stopping() {
  if (!enabled_ || stopping_sent_) return;
  stopping_sent_ = true;
  send("STOPPING=1\nSTATUS=stopping");
}

// A status that comes too early is sent with a later poll().
void SystemdNotifier::send_status() {
  if (!enabled_ || !ready_sent_ || !status_is_new_) return;
  const auto now = Clock::now();
  if (last_status_ && now - *last_status_ < kMinStatusInterval) return;
  std::string status = "STATUS=";
  if (!has_source_) {
    status += "pictures of clients are classified";
  } else if (!camera_.online) {
    status += has_result_ ? "camera offline" : "waiting for the camera";
  } else {
    if (fps_) status += fmt::format("{:.1f} fps: ", *fps_);
    status += state_.empty() ? "no state yet" : state_;
  }
  if (!machine_.empty()) status += "; " + machine_;
  send(status);
  last_status_ = now;
  status_is_new_ = false;
}

}  // namespace lookout

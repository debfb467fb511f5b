// Notifies systemd of the service's state: ready, alive, what the camera shows.
#pragma once

#include <optional>
#include <string>

#include "pipeline/core/reporter.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// Does nothing unless systemd started the program (NOTIFY_SOCKET is set; WATCHDOG_USEC for the
// watchdog). The constructor looks that up.
//
// READY is sent with the first result: the model is warm and the camera delivers. It is also sent
// when the camera is away, with a STATUS that says so, because the camera may take hours to come.
// Without READY the service stays "activating": systemd kills it after TimeoutStartSec=, or, if
// that is extended (EXTEND_TIMEOUT_USEC=), booting, `systemctl start` and upgrades of the package
// wait for the camera. WATCHDOG is sent from poll() alone: systemd notices a frame loop that hangs,
// and a camera that is away is not a hang.
class SystemdNotifier : public Reporter {
 public:
  // `has_source`: false: READY is sent at once, since no frame will come.
  explicit SystemdNotifier(bool has_source = true);
  // Sends STOPPING, unless the final tick did.
  ~SystemdNotifier() override;
  SystemdNotifier(const SystemdNotifier&) = delete;
  SystemdNotifier& operator=(const SystemdNotifier&) = delete;

  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;
  void poll() override;

 private:
  void send_stopping();
  void send_ready();
  void send_status();

  bool has_source_;
  bool enabled_ = false;
  Clock::duration watchdog_period_{};  // between two WATCHDOG messages; 0: none are wanted
  Clock::time_point last_watchdog_;
  bool ready_sent_ = false;
  bool has_result_ = false;
  bool stopping_sent_ = false;
  CameraStatus camera_;
  std::string state_;           // of the scene, its name; empty: none yet
  std::optional<double> fps_;   // of the last interval
  std::string machine_;         // the reasons why it is slow now, for people
  bool status_is_new_ = false;  // something of the above changed after last_status_
  std::optional<Clock::time_point> last_status_;
};

}  // namespace lookout

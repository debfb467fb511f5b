// Tells systemd how the service is: ready, alive, what it sees.
#pragma once

#include <optional>
#include <string>

#include "pipeline/reporter.h"

namespace lookout {

// Does nothing unless systemd started the program (NOTIFY_SOCKET; WATCHDOG_USEC for the watchdog),
// which is looked up once, in the constructor.
//
// READY comes with the first result: then the model is warm and the camera delivers. It also comes
// when the camera turned out to be away, with a STATUS that says so: the model is warm, and the
// rest may take hours. Until READY a service is "activating", in which systemd would kill it after
// TimeoutStartSec=; and were that put off (EXTEND_TIMEOUT_USEC=), the machine's boot, `systemctl
// start` and the upgrade of the package would wait for the camera, too. WATCHDOG comes
// from beat() alone, so that a frame loop that hangs is noticed; a camera that is away is not a
// hang.
class SystemdNotifier : public Reporter {
 public:
  SystemdNotifier();
  // Tells that the service is stopping, unless the last tick has.
  ~SystemdNotifier() override;
  SystemdNotifier(const SystemdNotifier&) = delete;
  SystemdNotifier& operator=(const SystemdNotifier&) = delete;

  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;
  void beat() override;

 private:
  void stopping();
  void say_ready();
  void say_status();

  bool enabled_ = false;
  Clock::duration watchdog_period_{};  // between two signs of life; 0: systemd wants none
  Clock::time_point last_beat_;
  bool ready_ = false;
  bool seen_ = false;  // there was a result
  bool stopping_ = false;
  CameraStatus camera_;
  std::string state_;          // its name; empty: none yet
  std::optional<double> fps_;  // of the last interval
  std::string machine_;        // what slows it down now
  bool unsaid_ = false;        // something of the above is new
  std::optional<Clock::time_point> last_status_;
};

}  // namespace lookout

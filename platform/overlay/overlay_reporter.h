// The overlay window as a reporter.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "pipeline/reporter.h"
#include "platform/overlay/overlay_window.h"

namespace lookout {

// Shows the picture with its top predictions, rates and latency, or since when the camera is
// offline. The inference thread only copies the pixels, and only when the window has drawn the
// picture before. Key q sets `stop`.
class OverlayReporter : public Reporter {
 public:
  struct Options {
    std::string title;
    View view;
    // true: every picture is shown, for which classification waits, at most 10 s for one; then the
    // window is given up. false: pictures are shown that come when the window is ready.
    bool every_picture = false;
  };

  OverlayReporter(Options options, std::atomic<bool>& stop);

  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;
  void beat() override;

  // Keeps the window as it is until the user closes it, `stop` becomes true or `end` has come.
  void linger(std::optional<Clock::time_point> end);

 private:
  void serve(std::chrono::milliseconds timeout);
  void wait_until_ready();
  void show_offline();

  Options options_;
  std::atomic<bool>& stop_;
  OverlayWindow window_;
  StatsSnapshot stats_;
  CameraStatus camera_;
  OverlayContent content_;
};

}  // namespace lookout

// The overlay window, seen from lookout: starts the process that draws it, and gives it pictures.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/reporter.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "platform/overlay/overlay_layout.h"
#include "platform/system/child_process.h"

namespace lookout {

// Cuts `text` to the size, between characters. What is not UTF-8 or no character, such as a
// control, becomes a text, as printable() writes it.
OverlayText overlay_text(std::string_view text);

// Shows the picture with its top predictions, rates and latency, or since when the camera is
// offline. Named watches have their rectangles on the picture and, in place of predictions, a row
// with the state of each. The inference thread only copies the pixels, and only when the window has
// drawn the picture before. A window that cannot be opened, is closed or is lost is logged once, as
// a warning; after that nothing is shown. Nothing throws.
class OverlayReporter : public Reporter {
 public:
  // Pictures are turned and mirrored as `view` says. Of a live source those are shown that come
  // when the window is ready. Otherwise every picture is shown: classification waits for the
  // window, and gives it up when it takes longer than `max_wait` for a picture. Key q closes the
  // window and sets `stop`.
  OverlayReporter(const RunInfo& info, const View& view, std::atomic<bool>& stop,
                  std::chrono::seconds max_wait = std::chrono::seconds(10));
  // Gives the window's process one second to end, and kills it then.
  ~OverlayReporter() override;
  OverlayReporter(const OverlayReporter&) = delete;
  OverlayReporter& operator=(const OverlayReporter&) = delete;

  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;
  // Also reaps the window's process.
  void poll() override;

  // Keeps the window as it is until the user closes it, `stop` becomes true or `end` has come.
  void linger(std::optional<Clock::time_point> end);

 private:
  // What is shown of a named watch.
  struct Watched {
    WatchInfoPtr watch;
    OverlayRow row;  // its name and state
  };

  void start(const View& view);
  void note(const Result& result);
  void fill_predictions(const Result& result);
  void fill_watches();
  bool is_ready() const { return open_ && shared_->ready; }
  void show();
  void wait_until_ready();
  void show_offline();
  void tell_missing();
  void serve(std::chrono::milliseconds timeout);
  void handle_end();
  void give_up(const std::string& why);

  const std::string camera_name_;
  const bool live_;
  const std::chrono::seconds max_wait_;
  std::atomic<bool>& stop_;
  OverlayText title_{};
  std::vector<Watched> watches_;      // empty: the only one has no name
  std::uint64_t sequence_ = 0;        // of the last result
  std::size_t results_of_frame_ = 0;  // of sequence_, so far
  StatsSnapshot stats_;
  CameraStatus camera_;
  std::optional<ChildProcess> process_;  // until it is reaped
  std::optional<MemoryFile> errors_;     // the process' stderr
  OverlayShared* shared_ = nullptr;      // not null while open_
  bool open_ = false;
  bool was_ready_ = false;
  bool missing_told_ = false;  // a character that no font has
};

}  // namespace lookout

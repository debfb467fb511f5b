#include "platform/overlay/overlay_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxWait{100};
constexpr std::chrono::seconds kMaxTimeOfAPicture{10};

}  // namespace

OverlayReporter::OverlayReporter(Options options, std::atomic<bool>& stop)
    : options_(std::move(options)), stop_(stop) {
  content_.title = overlay_text(options_.title);
}

void OverlayReporter::report(const Result& result, const Frame& frame) {
  if (!camera_.online) return;  // the last frame before the loss
  if (options_.every_picture) wait_until_ready();
  if (!window_.is_ready()) return;
  content_.rates =
      overlay_text(options_.every_picture
                       ? std::filesystem::path(frame.origin).filename().string()
                       : fmt::format("{:.1f} fps (camera {:.1f})  dropped {}",
                                     stats_.classified_fps, stats_.camera_fps, result.dropped));
  content_.latency = overlay_text(fmt::format(
      "latency {:.1f} ms  age {:.1f} ms", to_ms(result.durations.total), to_ms(result.frame_age)));
  content_.alert = false;
  content_.rows = static_cast<int>(std::min<std::size_t>(result.top.size(), kOverlayRows));
  for (std::size_t i = 0; i < static_cast<std::size_t>(content_.rows); ++i) {
    content_.row[i] = {overlay_text(result.top[i].label), result.top[i].score};
  }
  window_.show(frame.bgr, options_.view, content_);
}

void OverlayReporter::tick(const StatsSnapshot& stats) {
  if (!stats.final) stats_ = stats;
  show_offline();
}

void OverlayReporter::status(const CameraStatus& status) {
  camera_ = status;
  show_offline();
}

void OverlayReporter::show_offline() {
  if (camera_.online || !window_.is_ready()) return;
  const auto away = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now() - camera_.since);
  content_.alert = true;
  content_.rates = overlay_text(fmt::format("offline for {} s", away.count()));
  content_.latency = overlay_text("waiting for the camera");
  content_.rows = 0;
  window_.show(content_);
}

void OverlayReporter::beat() { serve(milliseconds(0)); }

void OverlayReporter::serve(milliseconds timeout) {
  window_.serve(timeout);
  if (window_.wants_to_quit()) stop_ = true;
}

void OverlayReporter::wait_until_ready() {
  const auto end = Clock::now() + kMaxTimeOfAPicture;
  while (window_.is_open() && !window_.is_ready() && !stop_) {
    serve(kMaxWait);
    if (Clock::now() > end && window_.is_open()) window_.give_up("the window does not answer");
  }
}

void OverlayReporter::linger(std::optional<Clock::time_point> end) {
  while (window_.is_open() && !stop_ && (!end || Clock::now() < *end)) serve(kMaxWait);
}

}  // namespace lookout

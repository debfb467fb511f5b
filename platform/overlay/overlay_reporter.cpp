#include "platform/overlay/overlay_reporter.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>

#include "pipeline/core/log.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPoll{5};  // between two looks at a window that is not ready
constexpr milliseconds kMaxReplyWait{100};
constexpr seconds kTimeToEnd{1};
constexpr int kCannotRun = 127;  // exit status of the dynamic loader

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Debian's package of a font with the character.
const char* package_for(char32_t character) {
  const auto is_within = [character](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  // Unicode's blocks of Chinese, Japanese and Korean, and of pictographs.
  if (is_within(0x2E80, 0x9FFF) || is_within(0xAC00, 0xD7FF) || is_within(0xF900, 0xFAFF) ||
      is_within(0xFF00, 0xFFEF) || is_within(0x20000, 0x3FFFF)) {
    return "fonts-noto-cjk";
  }
  return is_within(0x1F000, 0x1FAFF) ? "fonts-noto-color-emoji" : "fonts-noto-core";
}

// Copies the picture, scaled down if it is larger than can be seen.
void copy(const cv::Mat& picture, OverlayShared& shared) {
  const int side = std::max({picture.cols, picture.rows, kOverlayMaxSide});
  shared.width = std::max(1, picture.cols * kOverlayMaxSide / side);
  shared.height = std::max(1, picture.rows * kOverlayMaxSide / side);
  cv::Mat target(shared.height, shared.width, CV_8UC3, shared.bgr.data());
  cv::resize(picture, target, target.size(), 0, 0, cv::INTER_LINEAR);
}

}  // namespace

OverlayText overlay_text(std::string_view text) {
  OverlayText result{};
  const std::string shown = printable(text);
  std::size_t length = std::min(shown.size(), result.size() - 1);
  const auto continues_character = [&shown](std::size_t i) {
    return i < shown.size() && (static_cast<unsigned char>(shown[i]) & 0xC0U) == 0x80U;
  };
  while (continues_character(length)) --length;
  std::copy_n(shown.begin(), length, result.begin());
  return result;
}

OverlayReporter::OverlayReporter(const RunInfo& info, const View& view, std::atomic<bool>& stop,
                                 seconds max_wait)
    : camera_name_(info.camera), live_(info.live), max_wait_(max_wait), stop_(stop) {
  // Qt has platforms without a display, such as the console's framebuffer.
  if (variable("DISPLAY").empty() && variable("QT_QPA_PLATFORM").empty()) {
    give_up("there is no display, DISPLAY is not set");
    return;
  }
  try {
    start(view);
  } catch (const std::exception& error) {
    give_up(fmt::format("{} cannot be started: {}", kOverlayProgram, error.what()));
  }
}

OverlayReporter::~OverlayReporter() {
  if (shared_ == nullptr) return;
  shared_->owner = 0;
  if (process_) process_->wait(kTimeToEnd);
  ::munmap(shared_, sizeof(OverlayShared));
}

void OverlayReporter::start(const View& view) {
  const MemoryFile memory;
  void* mapped = MAP_FAILED;
  if (::ftruncate(memory.fd(), sizeof(OverlayShared)) == 0) {
    mapped =
        ::mmap(nullptr, sizeof(OverlayShared), PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd(), 0);
  }
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category());
  shared_ = new (mapped) OverlayShared;
  shared_->owner = ::getpid();
  shared_->view = view;
  errors_.emplace();
  constexpr int kNull = ProcessOptions::kDevNull;
  process_.emplace(ProcessOptions{
      {module_path(kOverlayProgram).string()}, {}, {kNull, kNull, errors_->fd(), memory.fd()}});
  open_ = true;
}

void OverlayReporter::watching(const WatchList& watches) {
  if (!watches.front().watch) {
    title_ = overlay_text(fmt::format("{}: {}", camera_name_, watches.front().model->name));
    return;
  }
  title_ = overlay_text(camera_name_);
  std::vector<Watched> next;
  for (const Watching& each : watches) {
    const auto before = std::find_if(watches_.begin(), watches_.end(), [&](const Watched& one) {
      return one.watch->name == each.watch->name && one.watch->shown() == each.watch->shown();
    });
    next.push_back({each.watch, {overlay_text(each.watch->shown()), 0}});
    if (before != watches_.end()) next.back().row = before->row;
  }
  watches_ = std::move(next);
}

// The state of a named watch.
void OverlayReporter::note(const Result& result) {
  const auto watched = std::find_if(watches_.begin(), watches_.end(), [&](const Watched& one) {
    return one.watch->name == result.watch->name;
  });
  if (watched == watches_.end()) return;
  const std::string& name = result.watch->shown();
  const SceneState& state = result.state;
  const bool has_state = state.kind != SceneState::Kind::kNone;
  watched->row = {overlay_text(has_state ? fmt::format("{}: {}", name, state.name()) : name),
                  state.kind == SceneState::Kind::kClass ? state.prediction.score : 0};
}

void OverlayReporter::fill_predictions(const Result& result) {
  OverlayContent& content = shared_->content;
  content.rows = std::min(result.top.size(), content.row.size());
  for (std::size_t i = 0; i < content.rows; ++i) {
    content.row[i] = {overlay_text(result.top[i].label), result.top[i].score};
  }
}

void OverlayReporter::fill_watches() {
  OverlayContent& content = shared_->content;
  content.rows = content.boxes = std::min(watches_.size(), content.box.size());
  for (std::size_t i = 0; i < content.rows; ++i) {
    content.row[i] = watches_[i].row;
    content.box[i] = {watches_[i].watch->roi, watches_[i].row.label};
  }
}

void OverlayReporter::show() {
  shared_->content.title = title_;
  was_ready_ = true;
  shared_->ready = false;
}

void OverlayReporter::report(const Result& result, const Frame& frame) {
  if (!camera_.online) return;  // the last frame before the loss
  if (result.watch) note(result);
  results_of_frame_ = result.sequence == sequence_ ? results_of_frame_ + 1 : 1;
  sequence_ = result.sequence;
  // What is not live has a result of each watch for each frame: they are shown together.
  if (!live_ && results_of_frame_ < watches_.size()) return;
  if (!live_) wait_until_ready();
  if (!is_ready()) return;
  tell_missing();
  OverlayContent& content = shared_->content;
  content.rates =
      overlay_text(live_ ? fmt::format("{:.1f} fps (camera {:.1f})  dropped {}",
                                       stats_.classified_fps, stats_.camera_fps, result.dropped)
                         : std::filesystem::path(frame.origin).filename().string());
  content.latency = overlay_text(fmt::format(
      "latency {:.1f} ms  age {:.1f} ms", to_ms(result.durations.total), to_ms(result.frame_age)));
  content.alert = false;
  if (watches_.empty()) {
    fill_predictions(result);
  } else {
    fill_watches();
  }
  copy(whole_picture(frame), *shared_);
  show();
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
  if (camera_.online || !is_ready()) return;
  const auto away =
      std::chrono::duration_cast<seconds>(std::chrono::system_clock::now() - camera_.since);
  OverlayContent& content = shared_->content;
  content.alert = true;
  content.rates = overlay_text(fmt::format("offline for {} s", away.count()));
  content.latency = overlay_text("waiting for the camera");
  content.rows = 0;
  content.boxes = std::min(content.boxes, watches_.size());
  for (std::size_t i = 0; i < content.boxes; ++i) {
    content.box[i].text = overlay_text(watches_[i].watch->shown());
  }
  show();
}

// Once, by the first of them.
void OverlayReporter::tell_missing() {
  if (missing_told_ || shared_->missing[0] == '\0') return;
  missing_told_ = true;
  utf8proc_int32_t character = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(shared_->missing.data()), -1,
                   &character);
  log_warn(
      "overlay: no font has '{}' (U+{:04X}), which is shown as a box; this may help: apt install "
      "{}",
      shared_->missing.data(), character, package_for(static_cast<char32_t>(character)));
}

void OverlayReporter::poll() { serve(milliseconds(0)); }

void OverlayReporter::linger(std::optional<Clock::time_point> end) {
  while (open_ && !stop_ && (!end || Clock::now() < *end)) serve(kMaxReplyWait);
}

void OverlayReporter::wait_until_ready() {
  const auto end = Clock::now() + max_wait_;
  while (open_ && !is_ready() && !stop_) {
    serve(kPoll);
    if (Clock::now() > end && open_ && !is_ready()) give_up("the window does not answer");
  }
}

// Waits for the end of the window's process, at most `timeout`.
void OverlayReporter::serve(milliseconds timeout) {
  if (!process_ || !process_->wait(timeout)) return;
  if (open_) handle_end();
  process_.reset();
}

void OverlayReporter::handle_end() {
  const int wait_status = process_->kill();
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  const std::string log = errors_->content();
  std::string why = log.substr(0, log.find('\n'));  // Qt explains it in further lines
  if (why.empty()) why = describe_end(wait_status);
  if (status == kOverlayQuit) {
    stop_ = true;
    open_ = false;
  } else if (status == kOverlayClosed) {
    give_up("the window was closed");
  } else if (status == kCannotRun) {
    // Debian's name of the package, as of libopencv_highgui.so.406.
    give_up(fmt::format("{}; this may help: apt install libopencv-highgui{}{:02}", why,
                        CV_VERSION_MAJOR, CV_VERSION_MINOR));
  } else if (was_ready_) {
    give_up(fmt::format("the window is lost: {}", why));
  } else {
    give_up(fmt::format("no window on DISPLAY '{}': {}", variable("DISPLAY"), why));
  }
}

void OverlayReporter::give_up(const std::string& why) {
  log_warn("overlay: {}; going on without it", why);
  open_ = false;
  if (process_) process_->send_kill();  // serve() reaps it
}

}  // namespace lookout

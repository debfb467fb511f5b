#include "platform/reporters/snapshot_reporter.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "pipeline/core/log.h"
#include "platform/reporters/log_once.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kPatience{2};        // at the end
constexpr std::chrono::seconds kMaxWriterWait{10};  // with SnapshotTrigger::waits

}  // namespace

class SnapshotReporter::Writer {
 public:
  enum class Turn { kTaken, kCoolDown, kBusy };

  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t failed = 0;
  };

  explicit Writer(Write write) : write_(std::move(write)) {}

  // Whether a picture of that time may be handed over, which is expected then. Waits until `end`
  // for the picture before.
  Turn begin(Clock::time_point captured, std::chrono::milliseconds cooldown,
             Clock::time_point end) {
    const auto is_cooling = [&](const std::optional<Clock::time_point>& before) {
      return before && captured - *before < cooldown;
    };
    const MutexLock lock(mutex_);
    while (writing_ && !is_cooling(writing_)) {
      if (Clock::now() >= end || !written_.wait_until(mutex_, end)) break;
    }
    if (is_cooling(writing_) || is_cooling(last_)) return Turn::kCoolDown;
    if (writing_) return Turn::kBusy;
    writing_ = captured;
    return Turn::kTaken;
  }

  // The thread's work.
  void write(Picture& picture, const AsyncWorker<Picture>::Task& task) {
    std::filesystem::path path;
    try {
      path = write_(picture.bgr, picture.label, picture.time);
    } catch (const std::exception& error) {
      // After the deadline the log may be gone.
      if (!task.expired()) failures_.warn(fmt::format("--snapshot-on-change {}", error.what()));
    }
    {
      const MutexLock lock(mutex_);
      ++(path.empty() ? counts_.failed : counts_.written);
      if (!path.empty()) last_ = picture.captured;
      writing_.reset();
    }
    written_.notify_all();
    picture.path.set_value(std::move(path));
  }

  Counts counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  const Write write_;
  LogOnce failures_;  // the thread's own
  mutable Mutex mutex_;
  ConditionVariable written_;
  // When these pictures were captured: the one that is handed over or being written, and the last
  // one that was written.
  std::optional<Clock::time_point> writing_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> last_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
};

SnapshotReporter::SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown,
                                   const SnapshotTrigger& trigger)
    : SnapshotReporter([folder = std::move(folder)](
                           const cv::Mat& bgr, std::string_view label,
                           auto time) mutable { return folder.write(bgr, label, time); },
                       cooldown, trigger) {}

SnapshotReporter::SnapshotReporter(Write write, std::chrono::milliseconds cooldown,
                                   const SnapshotTrigger& trigger)
    : trigger_(trigger),
      cooldown_(cooldown),
      writer_(std::make_shared<Writer>(std::move(write))),
      pictures_("snapshots", [writer = writer_](Picture& picture, const auto& task) {
        writer->write(picture, task);
      }) {}

SnapshotReporter::~SnapshotReporter() { end_by(Clock::now() + kPatience); }

// Predictions below results.threshold are not among the best.
bool SnapshotReporter::is_unsure(const Result& result) const {
  if (!trigger_.unsure_below) return false;
  if (result.top.empty()) return true;
  const Prediction& best = result.top.front();
  return best.index == trigger_.unknown || best.score < *trigger_.unsure_below;
}

std::future<std::filesystem::path> SnapshotReporter::take(const Result& result,
                                                          const Frame& frame) {
  const bool changed = trigger_.changes && result.state_changed;
  const bool unsure = !changed && is_unsure(result);
  if (!changed && !unsure) return {};
  const auto wait = trigger_.waits ? kMaxWriterWait : std::chrono::seconds(0);
  const Writer::Turn turn = writer_->begin(frame.captured, cooldown_, Clock::now() + wait);
  if (turn != Writer::Turn::kTaken) {
    ++(turn == Writer::Turn::kCoolDown ? in_cooldown_ : while_busy_);
    return {};
  }
  Picture picture;
  picture.bgr = frame.bgr.clone();
  // An unsure frame has the label that a person may confirm.
  picture.label = unsure ? std::string(result.top.empty() ? "unknown" : result.top.front().label)
                         : std::string(result.state.name());
  picture.time = result.timestamp;
  picture.captured = frame.captured;
  auto path = picture.path.get_future();
  pictures_.put(std::move(picture));
  return path;
}

void SnapshotReporter::end_by(Clock::time_point deadline) {
  if (std::exchange(ended_, true)) return;
  const bool in_time = pictures_.end_by(deadline);
  const Writer::Counts counts = writer_->counts();
  if (!in_time) {
    log_warn("--snapshot-on-change: the last picture is not complete: the storage is too slow");
  } else if (counts.written + counts.failed + in_cooldown_ + while_busy_ == 0) {
    return;
  }
  log_info(
      "--snapshot-on-change: {} written, {} failed, {} dropped by the cool-down, {} because "
      "another was being written",
      counts.written, counts.failed, in_cooldown_, while_busy_);
}

}  // namespace lookout

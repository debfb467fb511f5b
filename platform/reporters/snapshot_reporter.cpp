#include "platform/reporters/snapshot_reporter.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "pipeline/log.h"
#include "platform/reporters/log_once.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kPatience{2};  // at the end

}  // namespace

class SnapshotReporter::Writer {
 public:
  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t failed = 0;
  };

  explicit Writer(Write write) : write_(std::move(write)) {}

  // Returns whether a picture of that time may be handed over, and expects it then.
  bool begin(Clock::time_point captured, std::chrono::milliseconds cooldown) {
    const MutexLock lock(mutex_);
    if (writing_ || (last_ && captured - *last_ < cooldown)) return false;
    writing_ = true;
    return true;
  }

  // The thread's work.
  void write(Picture& picture, const HandOver<Picture>::Task& task) {
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
      writing_ = false;
    }
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
  bool writing_ GUARDED_BY(mutex_) = false;  // or handed over
  // When the last picture that was written was captured.
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
  if (!writer_->begin(frame.captured, cooldown_)) {
    ++dropped_;
    return {};
  }
  Picture picture;
  picture.bgr = frame.bgr.clone();
  // Of an unsure frame, the label that a person may confirm.
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
  } else if (counts.written + counts.failed + dropped_ == 0) {
    return;
  }
  log_info("--snapshot-on-change: {} written, {} failed, {} dropped by the cool-down",
           counts.written, counts.failed, dropped_);
}

}  // namespace lookout

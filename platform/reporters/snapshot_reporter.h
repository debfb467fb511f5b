// Saves pictures of changes of the state, and of frames that the model is unsure of.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/reporter.h"
#include "platform/reporters/snapshot_folder.h"

namespace lookout {

// Which frames are saved.
struct SnapshotTrigger {
  bool changes = true;  // of the state
  // Frames whose best score is below this, or whose best output is `unknown`; nothing: none of
  // them.
  std::optional<float> unsure_below{};
  std::optional<std::size_t> unknown{};  // as ModelSpec::unknown
  // A frame waits until the picture before it was written, at most 10 s: for sources that wait,
  // too, such as files.
  bool waits = false;
};

// Writes the frame, as the source delivered it. A frame to save is dropped while a picture is being
// written and in the cool-down after one, and counted for either reason. The cool-down is measured
// by the frames' times of capture; a picture that could not be written starts none. Pictures are
// written by a thread of this class ("snapshots"): report() copies the frame and waits only if the
// trigger says so. Each kind of failure is logged once, the counts are logged at the end.
class SnapshotReporter : public Reporter {
 public:
  // Writes a picture and returns its path, as SnapshotFolder::write().
  using Write = std::function<std::filesystem::path(const cv::Mat& bgr, std::string_view label,
                                                    std::chrono::system_clock::time_point time)>;

  SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown,
                   const SnapshotTrigger& trigger = {});
  // `write` is called by the thread, which may outlive this: it owns what it uses.
  SnapshotReporter(Write write, std::chrono::milliseconds cooldown,
                   const SnapshotTrigger& trigger = {});
  // As end_by(), in 2 s, unless that was called before.
  ~SnapshotReporter() override;
  SnapshotReporter(const SnapshotReporter&) = delete;
  SnapshotReporter& operator=(const SnapshotReporter&) = delete;

  // As report(). The future gets the picture's path when the file is complete and the next picture
  // can be taken; the path is empty when the picture could not be written. The future is not
  // valid() when no picture is taken, and broken when the end came first.
  std::future<std::filesystem::path> take(const Result& result, const Frame& frame);

  void report(const Result& result, const Frame& frame) override { take(result, frame); }

  // Writes the picture that waits, and logs the counts. A write that takes longer (storage that
  // does not answer) is left to itself AsyncWorker::kGrace after the deadline.
  void end_by(Clock::time_point deadline);

 private:
  struct Picture {
    cv::Mat bgr;
    std::string label;
    std::chrono::system_clock::time_point time;
    Clock::time_point captured;
    std::promise<std::filesystem::path> path;
  };
  class Writer;

  bool is_unsure(const Result& result) const;

  const SnapshotTrigger trigger_;
  const std::chrono::milliseconds cooldown_;
  const std::shared_ptr<Writer> writer_;  // shared with the thread, which may outlive this
  AsyncWorker<Picture> pictures_;
  std::uint64_t in_cooldown_ = 0;  // frames that were dropped
  std::uint64_t while_busy_ = 0;
  bool ended_ = false;
};

}  // namespace lookout

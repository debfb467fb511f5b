// A picture of what the camera saw when the state changed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "pipeline/reporter.h"
#include "platform/reporters/snapshot_folder.h"

namespace lookout {

// Writes the frame, as the source delivered it, at a change of the state, unless the last picture
// is not older than the cool-down (by the frames' times of capture) or still being written. Such
// changes are counted; a picture that could not be written starts no cool-down. Pictures are
// written by a thread of this class ("snapshots", signals blocked): report() copies the frame and
// never waits. A way in which that fails is logged the first time; at the end the counts are.
class SnapshotReporter : public Reporter {
 public:
  SnapshotReporter(SnapshotFolder folder, std::chrono::milliseconds cooldown);
  // Writes what waits.
  ~SnapshotReporter() override;
  SnapshotReporter(const SnapshotReporter&) = delete;
  SnapshotReporter& operator=(const SnapshotReporter&) = delete;

  // What report() does. The future waits for the picture and has its path then, an empty one if it
  // could not be written, and so that the next one can be taken; when none is taken it is not
  // valid().
  std::future<std::filesystem::path> take(const Result& result, const Frame& frame);

  void report(const Result& result, const Frame& frame) override { take(result, frame); }

 private:
  struct Picture {
    cv::Mat bgr;
    std::string label;
    std::chrono::system_clock::time_point time;
    Clock::time_point captured;
    std::promise<std::filesystem::path> path;
  };

  void work();
  bool wait_for_picture();
  std::filesystem::path write_picture();

  SnapshotFolder folder_;  // the thread's own
  const std::chrono::milliseconds cooldown_;
  std::uint64_t left_out_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool busy_ = false;    // guarded by mutex_; while it is true picture_ is the thread's own
  bool ending_ = false;  // guarded by mutex_, as is...
  std::optional<Clock::time_point> last_;  // ...the capture of the last picture that was written
  Picture picture_;
  std::uint64_t written_ = 0;  // the thread's own, as are...
  std::uint64_t failures_ = 0;
  std::set<std::string> said_;  // ...ways to fail that were logged
  std::thread thread_;          // last: it uses all of the above
};

}  // namespace lookout

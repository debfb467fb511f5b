// A command for each change of the state.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/reporter.h"
#include "platform/reporters/snapshot_reporter.h"

namespace lookout {

struct OnChangeOptions {
  std::vector<std::string> command;  // program and arguments, run as run_process() says
  std::chrono::milliseconds time_limit{10'000};
  std::chrono::milliseconds patience{2000};  // at the end
};

// Runs the command with what changed in its environment:
//
//   LOOKOUT_EVENT_STATE      the label, or "unknown"
//   LOOKOUT_EVENT_INDEX      of the model's output; empty when unknown
//   LOOKOUT_EVENT_SCORE      0..1, smoothed; empty when unknown
//   LOOKOUT_EVENT_PREVIOUS   the state before; empty for the first, and after the camera was away
//   LOOKOUT_EVENT_CAMERA     its name
//   LOOKOUT_EVENT_MODEL      its name
//   LOOKOUT_EVENT_SEQ        the frame's number
//   LOOKOUT_EVENT_TIMESTAMP  of the frame's capture: seconds since 1970
//   LOOKOUT_EVENT_FILE       the file or test pattern; empty for a camera
//   LOOKOUT_EVENT_SNAPSHOT   the picture of this change, which is there as a whole; empty when none
//                            was taken or written
//   LOOKOUT_EVENT_COALESCED  changes before this one for which no command was run
//
// No variable of the program's own options begins so: there is no option --event-...
//
// One command runs at a time, on a thread of this class ("on-change", signals blocked), so that
// report() never waits. Of changes that come in the meantime the newest waits for its turn, in
// place of the others; then for its picture to be written. A way in which the command fails is
// logged the first time; at the end the counts are.
class OnChangeReporter : public Reporter {
 public:
  // `snapshots` takes the pictures of all changes; null: there are none.
  OnChangeReporter(OnChangeOptions options, const std::string& camera, const std::string& model,
                   std::unique_ptr<SnapshotReporter> snapshots = nullptr);
  // Lets the running and the waiting command end, together within the patience, or kills them.
  ~OnChangeReporter() override;
  OnChangeReporter(const OnChangeReporter&) = delete;
  OnChangeReporter& operator=(const OnChangeReporter&) = delete;

  void report(const Result& result, const Frame& frame) override;

 private:
  using Environment = std::vector<std::string>;
  struct Change {
    Environment environment;  // less the snapshot
    std::future<std::filesystem::path> snapshot;
  };

  void work();
  std::optional<Change> next();
  void run(Change change);
  bool ending(Clock::time_point now);

  const OnChangeOptions options_;
  const Environment source_;  // the variables that are always the same
  const std::unique_ptr<SnapshotReporter> snapshots_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Change> waiting_;            // guarded by mutex_, as are...
  std::uint64_t replaced_ = 0;               // ...changes that waited in vain since the last start
  std::optional<Clock::time_point> end_by_;  // ...and when the patience is over
  std::uint64_t runs_ = 0;                   // the thread's own, as are...
  std::uint64_t failures_ = 0;
  std::uint64_t coalesced_ = 0;
  std::set<std::string> said_;  // ...ways to fail that were logged
  std::thread thread_;          // last: it uses all of the above
};

}  // namespace lookout

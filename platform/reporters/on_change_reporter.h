// A command for each change of the state.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/reporter.h"
#include "platform/reporters/snapshot_reporter.h"

namespace lookout {

struct OnChangeOptions {
  std::vector<std::string> command;  // program and arguments, run as run_process() says
  std::chrono::milliseconds time_limit{10'000};
  std::chrono::milliseconds patience{2000};  // at the end
};

// Runs the command with the change in its environment:
//
//   LOOKOUT_EVENT_STATE      the label, or "unknown"
//   LOOKOUT_EVENT_INDEX      of the model's output; empty when unknown
//   LOOKOUT_EVENT_SCORE      0..1, smoothed; empty when unknown
//   LOOKOUT_EVENT_PREVIOUS   the state before; empty for the first, and after the camera was away
//   LOOKOUT_EVENT_CAMERA     its name
//   LOOKOUT_EVENT_WATCH      the watch's name; not set when the run has one without
//   LOOKOUT_EVENT_MODEL      its name
//   LOOKOUT_EVENT_SEQ        the frame's number
//   LOOKOUT_EVENT_TIMESTAMP  of the frame's capture: seconds since 1970
//   LOOKOUT_EVENT_FILE       the file or test pattern; empty for a camera
//   LOOKOUT_EVENT_SNAPSHOT   the picture of this change, a complete file; empty when none was taken
//                            or written in time
//   LOOKOUT_EVENT_COALESCED  changes before this one for which no command was run
//
// No setting of lookout has such a variable, since no section is called `event`.
//
// One command runs at a time, on a thread of this class ("on-change"): report() never waits. Of the
// changes that come meanwhile the newest waits and the others are dropped. A command
// starts when the picture of its change has been written, or without it after the command's time
// limit. Each kind of failure is logged once, and the counts at the end.
class OnChangeReporter : public Reporter {
 public:
  // `snapshots` takes the pictures of all changes; null: no pictures.
  OnChangeReporter(OnChangeOptions options, const std::string& camera,
                   std::unique_ptr<SnapshotReporter> snapshots = nullptr);
  // Lets the running and the waiting command end, together within the patience, or kills them.
  // Returns AsyncWorker::kGrace later at the latest.
  ~OnChangeReporter() override;
  OnChangeReporter(const OnChangeReporter&) = delete;
  OnChangeReporter& operator=(const OnChangeReporter&) = delete;

  void report(const Result& result, const Frame& frame) override;

 private:
  struct Change {
    std::vector<std::string> environment;
    std::future<std::filesystem::path> snapshot;  // not valid: there is none
  };
  class Runner;

  const std::chrono::milliseconds patience_;
  const std::string camera_;
  const std::unique_ptr<SnapshotReporter> snapshots_;
  const std::shared_ptr<Runner> runner_;  // shared with the thread, which may outlive this
  AsyncWorker<Change> changes_;
};

}  // namespace lookout

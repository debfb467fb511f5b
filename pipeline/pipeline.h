// The threads: one captures, the caller's classifies and reports, or workers classify.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/classifier.h"
#include "pipeline/flow/scheduling.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/profile/trace.h"
#include "pipeline/reporter.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/state_tracker.h"
#include "pipeline/results/statistics.h"
#include "pipeline/source.h"

namespace lookout {

struct PipelineOptions {
  View view;
  std::size_t top_k = 10;
  float threshold = 0;
  StateOptions state;
  Scheduling capture;  // of the capture thread
  std::chrono::milliseconds stats_interval{1000};
  // Called for each statistics, on the calling thread; empty: nothing tells.
  std::function<MachineState()> machine_state;
  std::optional<std::chrono::milliseconds> duration;  // ends by itself after this time
  Trace* trace = nullptr;                             // outlives the run; null: none
};

// Classifies frames of `source` until it ends, `stop` becomes true or the duration is over; then
// every reporter gets the final statistics, which are returned. `stop` may be set by any thread or
// a signal handler and is seen within 100 ms + one inference.
//
// Several classifiers, of the same model, work side by side, each on a thread of its own
// ("worker-1" and on); reporters get results in the order of the frames either way.
//
// Starts one thread ("capture", signals blocked), and those of the workers, and joins them before
// it returns or throws. What a source, the scheduling, the classifier or a reporter throws ends the
// run, and is thrown again here, after frames captured before a failure of the source were
// classified and the final statistics reported.
StatsSnapshot run_pipeline(Source& source, const std::vector<Classifier*>& classifiers,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

// The same with one classifier, which works on the calling thread.
StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

}  // namespace lookout

// Runs the pipeline: one thread captures; the caller's classifies and reports, or workers classify.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/source.h"
#include "pipeline/core/wake_event.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/profile/trace.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/state_tracker.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/picture_queue.h"
#include "pipeline/run/scheduling.h"

namespace lookout {

// The first frames of a camera or a measurement, in which buffers are allocated and the clock
// rises: they are neither traced nor measured.
inline constexpr std::uint64_t kWarmUpFrames = 10;

// A part of the picture, classified by a model. Two may have the same classifier.
struct PipelineRegion {
  Classifier* classifier = nullptr;  // outlives the run
  ModelInfoPtr model;
  View view;
};

// A state that is derived from the results of a region, of which several may have the same.
struct PipelineWatch {
  WatchInfoPtr info;
  std::size_t region = 0;  // index
  StateOptions state;
};

struct PipelineOptions {
  ModelInfoPtr model;  // what results tell of the model; null: what it says itself
  View view;
  std::size_t top_k = 10;
  float threshold = 0;
  StateOptions state;
  Scheduling capture;  // of the capture thread
  std::chrono::milliseconds stats_interval{1000};
  // Called for each statistics, on the calling thread. Empty: the machine's state is not reported.
  std::function<MachineState()> machine_state;
  std::optional<Clock::time_point> end;  // when the run ends by itself; empty: never
  Trace* trace = nullptr;                // outlives the run; null: none
  PictureQueue* pictures = nullptr;      // outlives the run, which closes it; null: none
  // Degrees Celsius of the processor, above which fewer frames are classified; needs
  // `machine_state` and `selector`. Empty: no limit.
  std::optional<double> heat_limit;
  // With which the source was made, if it can be idle. Outlives the run; null: it is never idle.
  const WakeEvent* wake = nullptr;
  // Chooses the frames that are classified, and of several regions those of each frame. Outlives
  // the run; null: every one is.
  FrameSelector* selector = nullptr;
};

// Classifies frames of `source` until it ends, `stop` becomes true or the end has come; then
// every reporter gets the final statistics, which are returned. `stop` may be set by any thread or
// a signal handler and is seen within 100 ms + one inference. While the source is idle that takes
// up to a second, or until somebody wakes `options.wake`.
//
// Several classifiers, which must have the same model, work side by side, each on a thread of its
// own ("worker-1" and on). Either way reporters get results in the order of the frames.
//
// Starts one thread ("capture", signals blocked), and those of the workers, and joins them before
// it returns or throws. An exception of the source, the scheduling, the classifier or a reporter
// ends the run and is thrown again here. After a failure of the source the frames captured before
// it are classified and the final statistics reported first.
StatsSnapshot run_pipeline(Source& source,
                           const std::vector<std::unique_ptr<Classifier>>& classifiers,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

// Several regions and watches, at least one of each; not used are the model, view and state of
// `options`, which has a selector with the same regions. Those of a frame that have a result are
// classified on the calling thread, one after the other, each for all of its watches; of a live
// source until there is a newer frame. Statistics count a frame once: its times are the sums of its
// regions'. Pictures from elsewhere are classified by the model of the first region.
StatsSnapshot run_pipeline(Source& source, const std::vector<PipelineRegion>& regions,
                           const std::vector<PipelineWatch>& watches,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

// The same with one classifier, which works on the calling thread.
StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

}  // namespace lookout

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
#include "pipeline/run/plan_slot.h"
#include "pipeline/run/scheduling.h"

namespace lookout {

// The first frames of a camera or a measurement, in which buffers are allocated and the clock
// rises: they are neither traced nor measured.
inline constexpr std::uint64_t kWarmUpFrames = 10;

struct PipelineOptions {
  // Of the one watch of a run without a Plan, which says them otherwise.
  View view;
  std::size_t top_k = 10;
  StateOptions state;

  Scheduling capture;  // of the capture thread
  std::chrono::milliseconds stats_interval{1000};
  // Called for each statistics, on the calling thread. Empty: the machine's state is not reported.
  std::function<MachineState()> machine_state;
  std::optional<Clock::time_point> end;  // when the run ends by itself; empty: never
  Trace* trace = nullptr;                // outlives the run; null: none
  PictureQueue* pictures = nullptr;      // outlives the run, which closes it; null: none
  // With which the source was made, if it can be idle. Outlives the run; null: it is never idle.
  const WakeEvent* wake = nullptr;
  // A worker that takes longer for a frame may never return, nor may a source that takes longer to
  // read or to open a camera, for which the search for a host's name may take a minute.
  // Reporter::poll() is then not called, as it is not without workers: who watches over the frame
  // loop notices it.
  std::chrono::milliseconds worker_limit{10'000};
  std::chrono::milliseconds read_limit{120'000};
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

// What `plans` has, which another plan may replace between two frames: reporters are told what is
// watched from then on before the first result of it. A watch that stays keeps its state. Not used
// are the model, view, top_k, threshold, state and heat limit of `options`. Outlives the run.
//
// Several regions need a selector with the same regions, and as many classifiers each. Those of a
// frame that have a result are classified on the calling thread, one after the other, or by workers
// side by side, each for all of its watches; of a live source until there is a newer frame that
// nobody has taken. Statistics count a frame once: its times are the sums of its regions'. Pictures
// from elsewhere are classified as a watch would, by the plan that is current, or by the model of
// the first region.
StatsSnapshot run_pipeline(Source& source, PlanSlot& plans,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

// The same with one classifier, which works on the calling thread.
StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop);

}  // namespace lookout

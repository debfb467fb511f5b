// Records which thread did what with which frame, in the trace-event format of Chrome and Perfetto.
//
// Recording costs a lock and 56 bytes an event, and a system call at each end of a stage. Without a
// Trace, or for a frame that is not traced, it costs a comparison.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/profile/stage.h"
#include "pipeline/profile/stage_mark.h"
#include "pipeline/profile/trace_recording.h"

namespace lookout {

struct TraceOptions {
  std::uint64_t frames = 100;  // that are recorded
  std::uint64_t skip = 0;      // frames before them: those of a camera that warms up
  // About the run, for the trace's otherData: "model" -> "mobilenet_v2".
  std::map<std::string, std::string> about;
  // What the machine is like now. Called by sample(); empty: nothing is sampled.
  std::function<MachineSample()> sample;
  // How long reporters have waited for those who read their results, since the start. Called by the
  // thread that reports; empty: they do not wait.
  std::function<Clock::duration()> writer_wait;
};

// Records the given number of frames, from capture to report, or fewer if the source ends earlier.
// Frames that were dropped in between are not counted. Any thread may record; its name is taken
// from the system.
class Trace {
 public:
  // Saves the complete trace, which is passed to it. It is called once: by a thread of the trace as
  // soon as all frames were reported, or else by finish(). May throw.
  using Save = std::function<void(const Trace&)>;

  Trace(TraceOptions options, Save save);
  // Calls finish(), but drops its exception.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Whether events of this frame are recorded.
  bool traces(std::uint64_t frame) const {
    return frame >= options_.skip && !ended_.load(std::memory_order_relaxed);
  }

  // Called by the thread that ran the stage. A frame is in one stage at a time, and kReport is its
  // last one. Two stages of one thread must not overlap.
  void record(Stage stage, std::uint64_t frame, Clock::time_point start, Clock::time_point end,
              const StageUse& use = {});
  void record(Stage stage, std::uint64_t frame, const StageMark& start, const StageMark& end);
  // Called by the thread that reports, after each frame. Records what TraceOptions::sample returns,
  // at most ten times a second.
  void sample(std::uint64_t frame) {
    if (traces(frame) && options_.sample) sample_if_due();
  }
  Clock::duration writer_wait() const {
    return options_.writer_wait ? options_.writer_wait() : Clock::duration::zero();
  }

  // A call of an operator within a stage, or the time under a label of the model's code.
  struct Operator {
    TraceRecording::Operator what;
    std::uint64_t frame = 0;
    Clock::time_point start;
    Clock::time_point end;
    std::uint64_t bytes = 0;  // allocated by the call itself
  };
  void record_operator(const Operator& call);

  using AddOperator = std::function<void(const Operator&)>;

  // For operators whose times come at the end: the thread that saves calls `read` once before it
  // does, when no frame is traced any more, and `read` calls its argument with each of them. Their
  // threads are those that classified the frames.
  void add_at_end(std::function<void(const AddOperator&)> read);

  // Ends the recording and saves the trace unless it is saved already. The threads that record must
  // have ended. Throws the exception of Save.
  void finish();

  // For Save: writes the trace as one JSON object, in parts.
  void write_json(const std::function<void(std::string_view)>& out) const;

  // For Save, and after finish(): number of frames in the trace, from capture to report.
  std::uint64_t frames() const { return complete_.reported.size(); }

 private:
  bool has_room() const REQUIRES(mutex_);
  std::uint32_t this_thread() REQUIRES(mutex_);
  void add(const Operator& call, std::uint32_t thread) REQUIRES(mutex_);
  void sample_if_due();
  void add_late_operators();
  void save();

  const TraceOptions options_;
  const Save save_;
  std::atomic<bool> ended_{false};
  Clock::time_point next_sample_;  // used by the thread that reports alone
  Mutex mutex_;
  TraceRecording recording_ GUARDED_BY(mutex_);
  std::map<TraceRecording::Operator, std::uint32_t> operator_indices_ GUARDED_BY(mutex_);
  std::vector<std::function<void(const AddOperator&)>> late_ GUARDED_BY(mutex_);
  TraceRecording complete_;  // used by the thread that saves, and after finish()
  // Runs save() once: in the thread that is started by the one that recorded the last event, or in
  // finish(), which joins the thread and takes the result.
  std::packaged_task<void()> saving_{[this] { save(); }};
  std::future<void> saved_ = saving_.get_future();
  std::thread saver_;
};

// Records its own lifetime as a stage. Does nothing without a trace.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, Stage stage, std::uint64_t frame)
      : trace_(trace != nullptr && trace->traces(frame) ? trace : nullptr),
        stage_(stage),
        frame_(frame) {
    if (trace_ != nullptr) start_ = mark();
  }
  ~TraceSpan() {
    if (trace_ != nullptr) trace_->record(stage_, frame_, start_, mark());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  StageMark mark() const {
    StageMark now = mark_now(/*traced=*/true);
    now.writer = trace_->writer_wait();
    return now;
  }

  Trace* trace_;
  Stage stage_;
  std::uint64_t frame_;
  StageMark start_;
};

}  // namespace lookout

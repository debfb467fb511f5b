// What every thread did with every frame, in the trace-event format of Chrome and Perfetto.
//
// Recording costs a lock and 32 bytes an event; without a Trace, or for a frame that is not traced,
// a comparison.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/frame.h"
#include "pipeline/profile/stage.h"

namespace lookout {

struct TraceOptions {
  std::uint64_t frames = 100;  // that are recorded
  std::uint64_t skip = 0;      // frames of the source before them: a camera's, while it warms up
  // About the run, for the trace's otherData: "model" -> "mobilenet_v2".
  std::map<std::string, std::string> about;
};

// Records the given number of frames, from capture to report, or as many as come. Frames that were
// dropped in between are not counted. Any thread may record; its name is taken from the system.
class Trace {
 public:
  // Writes the trace away; called once, with the trace at its end, by finish(), or earlier by a
  // thread of the trace's own as soon as all frames were reported. May throw.
  using Save = std::function<void(const Trace&)>;

  Trace(TraceOptions options, Save save);
  // As finish(), but what is thrown is lost.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Whether what happens to this frame is recorded.
  bool traces(std::uint64_t frame) const {
    return frame >= options_.skip && !ended_.load(std::memory_order_relaxed);
  }

  // By the thread that did it. The stages of a frame are of one thread after the other: kReport is
  // the last one. Of two stages of one thread neither may begin in the other.
  void record(Stage stage, std::uint64_t frame, Clock::time_point start, Clock::time_point end);
  // Likewise, within a stage.
  void record_operator(std::string_view model, std::string_view name, std::uint64_t frame,
                       Clock::time_point start, Clock::time_point end);

  // Ends the recording and saves the trace unless that was done. The threads that record have to
  // have ended. Throws what saving threw.
  void finish();

  // For Save: the trace as one JSON object, in parts.
  void write_json(const std::function<void(std::string_view)>& out) const;

  // Likewise: of those that are in the trace from capture to report.
  std::uint64_t frames() const { return reported_.size(); }

 private:
  struct Event {
    std::uint64_t frame;
    std::int64_t start_ns;  // of Clock
    std::int64_t duration_ns;
    std::uint32_t thread;  // index in threads_
    std::uint32_t what;    // a Stage, or kStages + index in operators_
  };
  struct Thread {
    pid_t id;
    std::string name;
  };

  void add(std::uint32_t what, std::uint64_t frame, Clock::time_point start, Clock::time_point end);
  std::uint32_t this_thread();
  void start_saving();
  void save();
  std::vector<Event> complete_events() const;
  std::string slice(const Event& event) const;

  const TraceOptions options_;
  const Save save_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  // of what follows, until ended_
  std::vector<Event> events_;
  std::vector<Thread> threads_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> operator_indices_;
  std::vector<std::pair<std::string, std::string>> operators_;  // model, name
  std::vector<std::uint64_t> reported_;                         // frames
  std::exception_ptr error_;                                    // of saving
  bool saved_ = false;
  std::thread saver_;
};

// Records the time from its making to its end as a stage; does nothing without a trace.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, Stage stage, std::uint64_t frame)
      : trace_(trace != nullptr && trace->traces(frame) ? trace : nullptr),
        stage_(stage),
        frame_(frame) {
    if (trace_ != nullptr) start_ = Clock::now();
  }
  ~TraceSpan() {
    if (trace_ != nullptr) trace_->record(stage_, frame_, start_, Clock::now());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  Trace* trace_;
  Stage stage_;
  std::uint64_t frame_;
  Clock::time_point start_;
};

}  // namespace lookout

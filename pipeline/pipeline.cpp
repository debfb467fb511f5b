#include "pipeline/pipeline.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "pipeline/flow/frame_classifier.h"
#include "pipeline/flow/latest.h"
#include "pipeline/flow/workers.h"
#include "pipeline/thread.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestWait{100};
constexpr std::uint64_t kAnyFrame = std::numeric_limits<std::uint64_t>::max();

// The capture side: a thread that reads the source into the double buffer.
class Capture {
 public:
  Capture(Source& source, Scheduling scheduling, Trace* trace)
      : source_(source),
        scheduling_(std::move(scheduling)),
        trace_(trace),
        thread_(start_thread("capture", [this] { run(); })) {}
  ~Capture() { stop(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Latest<Frame>& frames() { return frames_; }

  CaptureCounts counts() const {
    CaptureCounts counts;
    // In this order: a frame is captured before it can be dropped, so `dropped` never exceeds
    // `captured`.
    counts.dropped = frames_.dropped();
    counts.captured = captured_;
    counts.skipped = skipped_;
    return counts;
  }

  // How many frames were captured, if all of them were either dropped or are among the
  // `classified` ones; 0 while one is on its way.
  std::uint64_t settled(std::uint64_t classified) const {
    const CaptureCounts now = counts();
    return now.captured == classified + now.dropped ? now.captured : 0;
  }

  // Moves what happened to the camera before frame `sequence` was captured into `changes`, oldest
  // first: a camera may go and come back during one inference.
  void take_changes(std::uint64_t sequence, std::vector<CameraStatus>& changes) {
    changes.clear();
    const std::lock_guard lock(changes_mutex_);
    const auto end =
        std::find_if(changes_.begin(), changes_.end(),
                     [sequence](const Change& change) { return change.next_frame > sequence; });
    for (auto change = changes_.begin(); change != end; ++change) changes.push_back(change->status);
    changes_.erase(changes_.begin(), end);
  }

  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // After stop(): what the source threw, if it did.
  std::exception_ptr error() const { return error_; }

 private:
  struct Change {
    CameraStatus status;
    std::uint64_t next_frame;  // the first frame captured after it
  };

  void run() {
    try {
      schedule_this_thread(scheduling_);
      read_all();
    } catch (...) {
      error_ = std::current_exception();
    }
    frames_.close();
  }

  void read_all() {
    const bool live = source_.info().live;
    Frame frame;
    while (!stop_) {
      const ReadStatus status = source_.read(frame, kLongestWait);
      note_status(source_.online());
      switch (status) {
        case ReadStatus::kFrame:
          frame.sequence = captured_++;
          record(frame);
          if (live) {
            frames_.put_newest(frame);
          } else {
            while (!frames_.put_next(frame, kLongestWait) && !stop_) {
            }
          }
          break;
        case ReadStatus::kTimeout:
          break;
        case ReadStatus::kSkipped:
          ++skipped_;
          break;
        case ReadStatus::kEnd:
          return;
      }
    }
  }

  void record(Frame& frame) {
    if (trace_ == nullptr || !trace_->traces(frame.sequence)) return;
    const auto before = std::exchange(frame_recorded_, Clock::now());
    frame.queued = frame_recorded_;
    const auto start = std::max(before, frame.queued - frame.capture_duration);
    trace_->record(Stage::kCapture, frame.sequence, start, frame.queued);
  }

  void note_status(bool online) {
    if (online == online_) return;
    online_ = online;
    const std::lock_guard lock(changes_mutex_);
    changes_.push_back({{online, std::chrono::system_clock::now()}, captured_});
  }

  Source& source_;
  const Scheduling scheduling_;
  Trace* const trace_;
  Clock::time_point frame_recorded_;  // the last one, of the capture thread alone
  Latest<Frame> frames_;
  bool online_ = true;  // of the capture thread alone
  std::mutex changes_mutex_;
  std::vector<Change> changes_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> captured_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

// The inference side: on the calling thread, or with several classifiers on a thread for each.
class Inference {
 public:
  Inference(Latest<Frame>& frames, const std::vector<Classifier*>& classifiers,
            const PipelineOptions& options)
      : frames_(frames) {
    if (classifiers.size() > 1) {
      workers_.emplace(frames, classifiers, options);
    } else {
      frame_classifier_.emplace(*classifiers.front(), options);
    }
  }

  // The next frame, classified; as Latest::take.
  TakeStatus take(ClassifiedFrame& classified, milliseconds timeout) {
    if (workers_) return workers_->take(classified, timeout);
    const TakeStatus status = frames_.take(classified.frame, timeout);
    if (status == TakeStatus::kTaken) frame_classifier_->classify(classified);
    return status;
  }

  void stop() { workers_.reset(); }

 private:
  Latest<Frame>& frames_;
  std::optional<FrameClassifier> frame_classifier_;  // one of the two
  std::optional<Workers> workers_;
};

// What is said of a frame beyond its own scores: its age, and the state it leaves.
class ResultCompleter {
 public:
  ResultCompleter(const std::vector<std::string>& labels, const StateOptions& options)
      : labels_(labels), tracker_(options) {}

  // What was seen before the camera was away says nothing about now.
  void forget_state() { tracker_.reset(); }

  void complete(ClassifiedFrame& classified, std::uint64_t dropped) {
    const Frame& frame = classified.frame;
    Result& result = classified.result;
    result.state_changed = tracker_.update(classified.scores, labels_, frame.captured);
    result.state = tracker_.state();
    result.previous_state = tracker_.previous();
    result.dropped = dropped;
    result.frame_age = Clock::now() - frame.captured;
    result.timestamp =
        std::chrono::system_clock::now() -
        std::chrono::duration_cast<std::chrono::system_clock::duration>(result.frame_age);
  }

 private:
  const std::vector<std::string>& labels_;
  StateTracker tracker_;
};

void tick(const std::vector<std::unique_ptr<Reporter>>& reporters, const PipelineOptions& options,
          StatsSnapshot& stats) {
  if (options.machine_state) stats.machine = options.machine_state();
  for (const auto& reporter : reporters) reporter->tick(stats);
}

void tell_changes(const std::vector<std::unique_ptr<Reporter>>& reporters,
                  const std::vector<CameraStatus>& changes) {
  for (const CameraStatus& change : changes) {
    for (const auto& reporter : reporters) reporter->status(change);
  }
}

}  // namespace

StatsSnapshot run_pipeline(Source& source, const std::vector<Classifier*>& classifiers,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  ResultCompleter completer(classifiers.front()->spec().labels, options.state);
  const auto start = Clock::now();
  Statistics statistics(start);
  auto next_tick = start + options.stats_interval;
  const auto end = options.duration ? start + *options.duration : Clock::time_point::max();
  ClassifiedFrame classified;
  std::vector<CameraStatus> changes;
  Capture capture(source, options.capture, options.trace);
  Inference inference(capture.frames(), classifiers, options);

  while (!stop) {
    const auto now = Clock::now();
    if (now >= end) break;
    for (const auto& reporter : reporters) reporter->beat();
    if (now >= next_tick) {
      StatsSnapshot interval = statistics.interval(capture.counts(), now);
      tick(reporters, options, interval);
      // Ticks that were missed are not made up for.
      next_tick += options.stats_interval;
      if (next_tick <= now) next_tick = now + options.stats_interval;
    }
    const auto wait = std::chrono::ceil<milliseconds>(std::min(next_tick, end) - now);
    const TakeStatus status = inference.take(classified, std::min(wait, kLongestWait));
    if (status == TakeStatus::kClosed) break;
    const bool taken = status == TakeStatus::kTaken;
    // Before the frame: one that came after the camera's return is reported after it. Without one,
    // not before those that are still with the workers: they came before the camera went away.
    capture.take_changes(
        taken ? classified.frame.sequence : capture.settled(statistics.classified()), changes);
    tell_changes(reporters, changes);
    if (!changes.empty()) completer.forget_state();
    if (!taken) continue;
    completer.complete(classified, capture.frames().dropped());
    statistics.record(classified.result);
    const TraceSpan span(options.trace, Stage::kReport, classified.frame.sequence);
    for (const auto& reporter : reporters) reporter->report(classified.result, classified.frame);
  }

  capture.stop();
  inference.stop();
  capture.take_changes(kAnyFrame, changes);
  tell_changes(reporters, changes);
  StatsSnapshot total = statistics.total(capture.counts(), Clock::now());
  tick(reporters, options, total);
  if (capture.error()) std::rethrow_exception(capture.error());
  return total;
}

StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  return run_pipeline(source, std::vector<Classifier*>{&classifier}, reporters, options, stop);
}

}  // namespace lookout

#include "pipeline/pipeline.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "pipeline/latest.h"
#include "pipeline/thread.h"
#include "pipeline/top_k.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestWait{100};

// The capture side: a thread that reads the source into the double buffer.
class Capture {
 public:
  Capture(Source& source, Scheduling scheduling)
      : source_(source),
        scheduling_(std::move(scheduling)),
        thread_(start_thread("capture", [this] { run(); })) {}
  ~Capture() { stop(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Latest<Frame>& frames() { return frames_; }

  CaptureCounts counts() const {
    CaptureCounts counts;
    // In this order: a frame is captured before it can be replaced, so what was replaced when we
    // look never exceeds what was captured.
    counts.replaced = frames_.replaced();
    counts.captured = captured_;
    counts.skipped = skipped_;
    return counts;
  }

  // Swaps what happened to the camera since the last call into `changes`, oldest first: a camera
  // may go and come back during one inference.
  void take_changes(std::vector<CameraStatus>& changes) {
    changes.clear();
    const std::lock_guard lock(changes_mutex_);
    std::swap(changes, changes_);
  }

  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // After stop(): what the source threw, if it did.
  std::exception_ptr error() const { return error_; }

 private:
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

  void note_status(bool online) {
    if (online == online_) return;
    online_ = online;
    const std::lock_guard lock(changes_mutex_);
    changes_.push_back({online, std::chrono::system_clock::now()});
  }

  Source& source_;
  const Scheduling scheduling_;
  Latest<Frame> frames_;
  bool online_ = true;  // of the capture thread alone
  std::mutex changes_mutex_;
  std::vector<CameraStatus> changes_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> captured_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

// The inference side: what happens to one frame.
class FrameClassifier {
 public:
  FrameClassifier(Classifier& classifier, const PipelineOptions& options)
      : classifier_(classifier),
        options_(options),
        preprocessor_(classifier.spec().input, options.view),
        tracker_(options.state) {}

  // What was seen before the camera was away says nothing about now.
  void forget_state() { tracker_.reset(); }

  // Valid until the next call.
  Result& classify(const Frame& frame) {
    const auto start = Clock::now();
    preprocessor_.run(frame.bgr, image_);
    const auto preprocessed = Clock::now();
    classifier_.classify(image_, logits_);
    const auto inferred = Clock::now();
    const std::vector<std::string>& labels = classifier_.spec().labels;
    softmax(logits_, scores_);
    top_k(logits_, scores_, labels, options_.top_k, options_.threshold, result_.top);
    result_.state_changed = tracker_.update(scores_, labels, frame.captured);
    result_.state = tracker_.state();
    result_.previous_state = tracker_.previous();
    const auto done = Clock::now();

    result_.sequence = frame.sequence;
    result_.frame_age = done - frame.captured;
    result_.timestamp =
        std::chrono::system_clock::now() -
        std::chrono::duration_cast<std::chrono::system_clock::duration>(result_.frame_age);
    result_.durations.capture = frame.capture_duration;
    result_.durations.preprocess = preprocessed - start;
    result_.durations.inference = inferred - preprocessed;
    result_.durations.total = frame.capture_duration + (done - start);
    return result_;
  }

 private:
  Classifier& classifier_;
  const PipelineOptions& options_;
  Preprocessor preprocessor_;
  ImageTensor image_;
  std::vector<float> logits_;
  std::vector<float> scores_;
  StateTracker tracker_;
  Result result_;
};

void tick(const std::vector<std::unique_ptr<Reporter>>& reporters, const StatsSnapshot& stats) {
  for (const auto& reporter : reporters) reporter->tick(stats);
}

void tell_changes(const std::vector<std::unique_ptr<Reporter>>& reporters,
                  const std::vector<CameraStatus>& changes) {
  for (const CameraStatus& change : changes) {
    for (const auto& reporter : reporters) reporter->status(change);
  }
}

}  // namespace

StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  FrameClassifier frame_classifier(classifier, options);
  const auto start = Clock::now();
  Statistics statistics(start);
  auto next_tick = start + options.stats_interval;
  const auto end = options.duration ? start + *options.duration : Clock::time_point::max();
  Frame frame;
  std::vector<CameraStatus> changes;
  Capture capture(source, options.capture);

  while (!stop) {
    const auto now = Clock::now();
    if (now >= end) break;
    for (const auto& reporter : reporters) reporter->beat();
    if (now >= next_tick) {
      tick(reporters, statistics.interval(capture.counts(), now));
      // Ticks that were missed are not made up for.
      next_tick += options.stats_interval;
      if (next_tick <= now) next_tick = now + options.stats_interval;
    }
    const auto wait = std::chrono::ceil<milliseconds>(std::min(next_tick, end) - now);
    const TakeStatus status = capture.frames().take(frame, std::min(wait, kLongestWait));
    if (status == TakeStatus::kClosed) break;
    // Before the frame: one that came after the camera's return is reported after it.
    capture.take_changes(changes);
    tell_changes(reporters, changes);
    if (!changes.empty()) frame_classifier.forget_state();
    if (status == TakeStatus::kTimeout) continue;
    Result& result = frame_classifier.classify(frame);
    result.replaced = capture.frames().replaced();
    statistics.record(result);
    for (const auto& reporter : reporters) reporter->report(result, frame);
  }

  capture.stop();
  capture.take_changes(changes);
  tell_changes(reporters, changes);
  const StatsSnapshot total = statistics.total(capture.counts(), Clock::now());
  tick(reporters, total);
  if (capture.error()) std::rethrow_exception(capture.error());
  return total;
}

}  // namespace lookout

#include "pipeline/run/pipeline.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/run/capture.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/heat_limit.h"
#include "pipeline/run/result_completer.h"
#include "pipeline/run/workers.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxIdleTurn{1000};  // of the frame loop, without a camera
constexpr std::chrono::seconds kHeatInterval{1};
constexpr std::uint64_t kAnyFrame = std::numeric_limits<std::uint64_t>::max();

using Reporters = std::vector<std::unique_ptr<Reporter>>;

// Classifies: with one classifier, take() does on the calling thread. Several have a thread each.
class Inference {
 public:
  Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace,
            FrameSelector* selector, PictureQueue* pictures)
      : frames_(frames), trace_(trace), selector_(selector), pictures_(pictures) {
    if (classifiers.size() > 1) {
      workers_.emplace(frames, std::move(classifiers), trace, selector, pictures);
    } else {
      classifier_.emplace(std::move(classifiers.front()));
      if (pictures != nullptr)
        picture_classifier_.emplace(
            pictures->make_classifier(classifier_->classifier(), classifier_->model()));
    }
    if (pictures != nullptr) pictures->set_wake([&frames] { frames.interrupt(); });
  }

  ~Inference() { stop(); }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // The next frame, classified; otherwise as Latest::take(). Throws what classifying it threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
    if (workers_) return workers_->take(classified, timeout);
    if (picture_classifier_) pictures_->classify_overdue(*picture_classifier_);
    const bool picture_waits = picture_classifier_ && pictures_->is_waiting();
    const TakeStatus status =
        take_chosen(frames_, picture_waits ? std::chrono::milliseconds(0) : timeout, selector_,
                    trace_, classified);
    if (status == TakeStatus::kTaken && !classified.result.reused) {
      classifier_->classify(classified, trace_);
    }
    if (status == TakeStatus::kTimeout && picture_classifier_)
      pictures_->classify_waiting(*picture_classifier_);
    return status;
  }

  // Ends the workers, if there are any, and closes `pictures`.
  void stop() {
    if (pictures_ != nullptr) pictures_->close();
    workers_.reset();
  }

 private:
  Latest<Frame>& frames_;
  Trace* const trace_;
  FrameSelector* const selector_;
  PictureQueue* const pictures_;
  // One classifier: these two, the second if there are pictures.
  std::optional<FrameClassifier> classifier_;
  std::optional<FrameClassifier> picture_classifier_;
  std::optional<Workers> workers_;  // several
};

// The frame loop of the calling thread: takes classified frames and calls the reporters.
class FrameLoop {
 public:
  FrameLoop(Source& source, std::vector<FrameClassifier> classifiers, const Reporters& reporters,
            const PipelineOptions& options)
      : options_(options),
        reporters_(reporters),
        model_(classifiers.front().model()),
        completer_(options.state),
        start_(Clock::now()),
        next_tick_(start_ + options.stats_interval),
        statistics_(start_),
        next_heat_(start_ + kHeatInterval),
        capture_(source, options.capture, options.trace, options.selector, options.wake),
        inference_(capture_.frames(), std::move(classifiers), options.trace, options.selector,
                   options.pictures) {
    const bool can_limit = options.machine_state && options.selector != nullptr;
    if (can_limit && options.heat_limit) heat_.emplace(*options.heat_limit);
  }

  // Returns when the source ended or failed, the end has come or `stop` is true.
  void run(const std::atomic<bool>& stop) {
    for (const auto& reporter : reporters_) reporter->model(model_);
    const auto end = options_.end.value_or(Clock::time_point::max());
    while (!stop) {
      const auto now = Clock::now();
      if (now >= end) return;
      for (const auto& reporter : reporters_) reporter->poll();
      if (now >= next_tick_) report_interval(now);
      if (heat_ && now >= next_heat_) limit_heat(now);
      const auto wait = std::chrono::ceil<milliseconds>(std::min(next_tick_, end) - now);
      if (!report_next(std::min(wait, capture_.idle() ? kMaxIdleTurn : kMaxWait))) return;
    }
  }

  // Ends the threads and reports the final statistics, unless the source failed before its first
  // frame. Throws the source's exception, if any.
  StatsSnapshot finish() {
    capture_.stop();
    inference_.stop();
    report_changes(kAnyFrame);
    StatsSnapshot total = statistics_.total(capture_.counts(), Clock::now());
    if (!capture_.error() || total.captured + total.skipped > 0) tick(total);
    if (capture_.error()) std::rethrow_exception(capture_.error());
    return total;
  }

 private:
  void tick(StatsSnapshot& stats) {
    if (options_.machine_state) stats.machine = options_.machine_state();
    for (const auto& reporter : reporters_) reporter->tick(stats);
  }

  void report_interval(Clock::time_point now) {
    StatsSnapshot interval = statistics_.interval(capture_.counts(), now);
    tick(interval);
    // Missed ticks are skipped.
    next_tick_ += options_.stats_interval;
    if (next_tick_ <= now) next_tick_ = now + options_.stats_interval;
  }

  void limit_heat(Clock::time_point now) {
    const std::uint64_t results = statistics_.classified() - heat_results_;
    const std::chrono::duration<double> passed = now - next_heat_ + kHeatInterval;
    heat_results_ = statistics_.classified();
    next_heat_ = now + kHeatInterval;
    const auto temperature = options_.machine_state().temperature;
    const auto rate = static_cast<double>(results) / passed.count();
    const HeatLimit::Event event = heat_->update(now.time_since_epoch(), temperature, rate);
    options_.selector->limit_rate(heat_->rate());
    switch (event) {
      case HeatLimit::Event::kNone:
      case HeatLimit::Event::kNoSensor:  // told at the start, with the other notes on the machine
        break;
      case HeatLimit::Event::kStarted:
        log_warn(
            "the processor has {:.1f} °C: fewer frames are classified, to keep it below "
            "heat.limit, {:.4g} °C",
            temperature.value_or(0), *options_.heat_limit);
        break;
      case HeatLimit::Event::kEnded:
        log_info("the processor has cooled down to {:.1f} °C: all frames are classified again",
                 temperature.value_or(0));
        break;
    }
  }

  // Waits for the next frame at most `timeout`. Returns false when there will be none.
  bool report_next(milliseconds timeout) {
    const TakeStatus status = inference_.take(classified_, timeout);
    if (status == TakeStatus::kClosed) return false;
    const bool taken = status == TakeStatus::kTaken;
    // Changes are reported before the frames that were captured after them. Without a frame there
    // may still be older ones with the workers, which come first.
    report_changes(taken ? classified_.frame.sequence : capture_.settled(statistics_.classified()));
    if (taken) report_frame();
    return true;
  }

  void report_frame() {
    completer_.complete(classified_, capture_.frames().dropped());
    statistics_.record(classified_.result);
    report_model();
    {
      const TraceSpan span(options_.trace, Stage::kReport, classified_.frame.sequence);
      for (const auto& reporter : reporters_) {
        reporter->report(classified_.result, classified_.frame);
      }
    }
    if (options_.trace != nullptr) options_.trace->sample(classified_.frame.sequence);
  }

  void report_model() {
    if (classified_.result.model == model_) return;
    model_ = classified_.result.model;
    for (const auto& reporter : reporters_) reporter->model(model_);
  }

  // Reports the camera's losses and returns before frame `sequence`.
  void report_changes(std::uint64_t sequence) {
    capture_.take_changes(sequence, changes_);
    for (const CameraStatus& change : changes_) {
      for (const auto& reporter : reporters_) reporter->status(change);
    }
    if (!changes_.empty()) completer_.forget_state();
  }

  const PipelineOptions& options_;
  const Reporters& reporters_;
  ModelInfoPtr model_;  // of which reporters were told
  ResultCompleter completer_;
  const Clock::time_point start_;
  Clock::time_point next_tick_;
  Statistics statistics_;
  std::optional<HeatLimit> heat_;
  Clock::time_point next_heat_;
  std::uint64_t heat_results_ = 0;  // results at the last look at the temperature
  ClassifiedFrame classified_;
  std::vector<CameraStatus> changes_;
  Capture capture_;
  Inference inference_;  // last: its workers take from capture_
};

StatsSnapshot run_loop(Source& source, const std::vector<Classifier*>& classifiers,
                       const Reporters& reporters, const PipelineOptions& options,
                       const std::atomic<bool>& stop) {
  ModelInfoPtr model = options.model;
  if (!model) model = std::make_shared<ModelInfo>(model_info(classifiers.front()->spec()));
  std::vector<FrameClassifier> frame_classifiers;
  frame_classifiers.reserve(classifiers.size());
  for (Classifier* classifier : classifiers) {
    frame_classifiers.emplace_back(*classifier, model, options.view, options.top_k,
                                   options.threshold);
  }
  FrameLoop loop(source, std::move(frame_classifiers), reporters, options);
  loop.run(stop);
  return loop.finish();
}

}  // namespace

StatsSnapshot run_pipeline(Source& source,
                           const std::vector<std::unique_ptr<Classifier>>& classifiers,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  std::vector<Classifier*> all;
  all.reserve(classifiers.size());
  for (const auto& classifier : classifiers) all.push_back(classifier.get());
  return run_loop(source, all, reporters, options, stop);
}

StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  return run_loop(source, {&classifier}, reporters, options, stop);
}

}  // namespace lookout

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

// What a run classifies with: at least one worker, or at least one region.
struct Classifiers {
  std::vector<FrameClassifier> regions;  // one worker's
  std::vector<FrameClassifier> workers;  // several, of one region
  bool live = false;                     // the source

  const ModelInfoPtr& model(std::size_t region) const {
    return workers.empty() ? regions[region].model() : workers.front().model();
  }
};

// Classifies: take() does on the calling thread, unless there are workers, which have a thread
// each.
class Inference {
 public:
  Inference(Latest<Frame>& frames, Classifiers classifiers, Trace* trace, FrameSelector* selector,
            PictureQueue* pictures)
      : frames_(frames),
        trace_(trace),
        selector_(selector),
        pictures_(pictures),
        live_(classifiers.live),
        regions_(std::move(classifiers.regions)) {
    if (regions_.empty()) {
      workers_.emplace(frames, std::move(classifiers.workers), trace, selector, pictures);
    } else if (pictures != nullptr) {
      picture_classifier_.emplace(
          pictures->make_classifier(regions_.front().classifier(), regions_.front().model()));
    }
    if (pictures != nullptr) pictures->set_wake([&frames] { frames.interrupt(); });
  }

  ~Inference() { stop(); }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // The next frame, classified, or the next region of the one in `classified`; otherwise as
  // Latest::take(). Throws what classifying it threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
    if (workers_) return workers_->take(classified, timeout);
    if (regions_.size() > 1 && take_rest(classified)) return TakeStatus::kTaken;
    if (picture_classifier_) pictures_->classify_overdue(*picture_classifier_);
    const bool picture_waits = picture_classifier_ && pictures_->is_waiting();
    const TakeStatus status =
        take_chosen(frames_, picture_waits ? std::chrono::milliseconds(0) : timeout, selector_,
                    trace_, classified);
    if (status == TakeStatus::kTaken) classify(classified);
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
  bool take_rest(ClassifiedFrame& classified) {
    const auto use = selector_->next(classified.frame);
    if (!use) return false;
    begin_result(*use, classified);
    classify(classified);
    return true;
  }

  void classify(ClassifiedFrame& classified) {
    if (!classified.result.reused) regions_[classified.region].classify(classified, trace_);
    if (regions_.size() == 1) return;
    if (live_ && !classified.result.reused && frames_.has_element()) selector_->leave_rest();
    classified.is_last = !selector_->has_next();
  }

  Latest<Frame>& frames_;
  Trace* const trace_;
  FrameSelector* const selector_;
  PictureQueue* const pictures_;
  const bool live_;
  // Without workers: these two, the second if there are pictures.
  std::vector<FrameClassifier> regions_;
  std::optional<FrameClassifier> picture_classifier_;
  std::optional<Workers> workers_;
};

// What the frame loop knows of a watch.
struct Watched {
  explicit Watched(const PipelineWatch& watch)
      : info(watch.info), region(watch.region), completer(watch.state) {}

  WatchInfoPtr info;
  std::size_t region;
  ResultCompleter completer;
};

// Adds the times of a further region of the same frame.
void add_region(const Result& region, Result& frame) {
  frame.frame_age = region.frame_age;
  frame.durations.preprocess += region.durations.preprocess;
  frame.durations.inference += region.durations.inference;
  frame.durations.total += region.durations.total - region.durations.capture;
  frame.reused = frame.reused && region.reused;
}

WatchList watching(const Classifiers& classifiers, const std::vector<PipelineWatch>& watches) {
  WatchList list;
  for (const PipelineWatch& watch : watches) {
    list.push_back({watch.info, classifiers.model(watch.region)});
  }
  return list;
}

// The frame loop of the calling thread: takes classified frames and calls the reporters.
class FrameLoop {
 public:
  FrameLoop(Source& source, Classifiers classifiers, const std::vector<PipelineWatch>& watches,
            const Reporters& reporters, const PipelineOptions& options)
      : options_(options),
        reporters_(reporters),
        watching_(watching(classifiers, watches)),
        start_(Clock::now()),
        next_tick_(start_ + options.stats_interval),
        statistics_(start_),
        next_heat_(start_ + kHeatInterval),
        capture_(source, options.capture, options.trace, options.selector, options.wake),
        inference_(capture_.frames(), std::move(classifiers), options.trace, options.selector,
                   options.pictures) {
    const bool can_limit = options.machine_state && options.selector != nullptr;
    if (can_limit && options.heat_limit) heat_.emplace(*options.heat_limit);
    for (const PipelineWatch& watch : watches) watches_.emplace_back(watch);
  }

  // Returns when the source ended or failed, the end has come or `stop` is true.
  void run(const std::atomic<bool>& stop) {
    for (const auto& reporter : reporters_) reporter->watching(watching_);
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
    if (frame_) statistics_.record(*frame_);  // the end came between two of its regions
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
    const std::uint64_t results = std::exchange(heat_results_, 0);
    const std::chrono::duration<double> passed = now - next_heat_ + kHeatInterval;
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

  // Of one region.
  void report_frame() {
    ++heat_results_;
    const std::size_t region = classified_.region;
    auto watch = next_watch_of(region, watches_.begin());
    while (watch != watches_.end()) {
      const auto following = next_watch_of(region, watch + 1);
      report_watch(*watch, following == watches_.end());
      watch = following;
    }
    if (classified_.is_last && options_.trace != nullptr) {
      options_.trace->sample(classified_.frame.sequence);
    }
  }

  // `is_last`: of the region's.
  void report_watch(Watched& watch, bool is_last) {
    watch.completer.complete(classified_, capture_.frames().dropped(), !is_last);
    classified_.result.watch = watch.info;
    if (is_last) record();
    const TraceSpan span(options_.trace, Stage::kReport, classified_.frame.sequence);
    for (const auto& reporter : reporters_) {
      reporter->report(classified_.result, classified_.frame);
    }
  }

  // Counts the frame with its last region.
  void record() {
    if (classified_.is_last && !frame_) {
      statistics_.record(classified_.result);
      return;
    }
    if (!frame_) {
      frame_ = classified_.result;
    } else {
      add_region(classified_.result, *frame_);
    }
    if (!classified_.is_last) return;
    statistics_.record(*frame_);
    frame_.reset();
  }

  std::vector<Watched>::iterator next_watch_of(std::size_t region,
                                               std::vector<Watched>::iterator from) {
    return std::find_if(from, watches_.end(),
                        [region](const Watched& watch) { return watch.region == region; });
  }

  // Reports the camera's losses and returns before frame `sequence`.
  void report_changes(std::uint64_t sequence) {
    capture_.take_changes(sequence, changes_);
    for (const CameraStatus& change : changes_) {
      for (const auto& reporter : reporters_) reporter->status(change);
    }
    if (changes_.empty()) return;
    for (Watched& watch : watches_) watch.completer.forget_state();
  }

  const PipelineOptions& options_;
  const Reporters& reporters_;
  const WatchList watching_;
  std::vector<Watched> watches_;
  std::optional<Result> frame_;  // with the times of the regions so far
  const Clock::time_point start_;
  Clock::time_point next_tick_;
  Statistics statistics_;
  std::optional<HeatLimit> heat_;
  Clock::time_point next_heat_;
  std::uint64_t heat_results_ = 0;  // results of regions since the last look at the temperature
  ClassifiedFrame classified_;
  std::vector<CameraStatus> changes_;
  Capture capture_;
  Inference inference_;  // last: its workers take from capture_
};

StatsSnapshot run_loop(Source& source, Classifiers classifiers,
                       const std::vector<PipelineWatch>& watches, const Reporters& reporters,
                       const PipelineOptions& options, const std::atomic<bool>& stop) {
  FrameLoop loop(source, std::move(classifiers), watches, reporters, options);
  loop.run(stop);
  return loop.finish();
}

StatsSnapshot run_one_watch(Source& source, const std::vector<Classifier*>& classifiers,
                            const Reporters& reporters, const PipelineOptions& options,
                            const std::atomic<bool>& stop) {
  ModelInfoPtr model = options.model;
  if (!model) model = std::make_shared<ModelInfo>(model_info(classifiers.front()->spec()));
  Classifiers all;
  auto& frame_classifiers = classifiers.size() > 1 ? all.workers : all.regions;
  frame_classifiers.reserve(classifiers.size());
  for (Classifier* classifier : classifiers) {
    frame_classifiers.emplace_back(*classifier, model, options.view, options.top_k,
                                   options.threshold);
  }
  return run_loop(source, std::move(all), {{nullptr, 0, options.state}}, reporters, options, stop);
}

}  // namespace

StatsSnapshot run_pipeline(Source& source,
                           const std::vector<std::unique_ptr<Classifier>>& classifiers,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  std::vector<Classifier*> all;
  all.reserve(classifiers.size());
  for (const auto& classifier : classifiers) all.push_back(classifier.get());
  return run_one_watch(source, all, reporters, options, stop);
}

StatsSnapshot run_pipeline(Source& source, Classifier& classifier,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  return run_one_watch(source, {&classifier}, reporters, options, stop);
}

StatsSnapshot run_pipeline(Source& source, const std::vector<PipelineRegion>& regions,
                           const std::vector<PipelineWatch>& watches,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  Classifiers classifiers;
  classifiers.live = source.info().live;
  classifiers.regions.reserve(regions.size());
  for (const PipelineRegion& region : regions) {
    classifiers.regions.emplace_back(*region.classifier, region.model, region.view, options.top_k,
                                     options.threshold);
  }
  return run_loop(source, std::move(classifiers), watches, reporters, options, stop);
}

}  // namespace lookout

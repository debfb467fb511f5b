#include "pipeline/run/pipeline.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/run/capture.h"
#include "pipeline/run/heat_limit.h"
#include "pipeline/run/result_completer.h"
#include "pipeline/run/thread_plan.h"
#include "pipeline/run/workers.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxIdleTurn{1000};  // of the frame loop, without a camera
constexpr std::chrono::seconds kHeatInterval{1};
constexpr std::uint64_t kAnyFrame = std::numeric_limits<std::uint64_t>::max();

using Reporters = std::vector<std::unique_ptr<Reporter>>;

// Classifies: take() does on the calling thread, unless there are workers, which have a thread
// each.
class Inference {
 public:
  Inference(const FrameFeed& feed, PictureQueue* pictures)
      : feed_(feed), pictures_(pictures), plan_(feed.plans.current()) {
    if (plan_->regions.front().classifiers.size() > 1) {
      plan_.reset();
      workers_.emplace(feed, pictures);
    } else {
      classifiers_.emplace(0, pictures).use(plan_);
    }
    if (pictures != nullptr) pictures->set_wake([&frames = feed.frames] { frames.interrupt(); });
  }

  ~Inference() { stop(); }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // The next frame, classified, or the next region of the one in `classified`; otherwise as
  // Latest::take(). Throws what classifying it threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
    if (workers_) return workers_->take(classified, timeout);
    if (classifiers_->regions() > 1 && take_rest(classified)) return TakeStatus::kTaken;
    if (pictures_ != nullptr) pictures_->classify_overdue(classifiers_->pictures());
    const bool picture_waits = pictures_ != nullptr && pictures_->is_waiting();
    const TakeStatus status =
        take_chosen(feed_, picture_waits ? std::chrono::milliseconds(0) : timeout, plan_,
                    classified.frame, classified);
    classifiers_->use(plan_);
    if (status == TakeStatus::kTaken) {
      if (classified.plan != plan_) classified.plan = plan_;
      classify(classified);
    }
    if (status == TakeStatus::kTimeout && pictures_ != nullptr)
      pictures_->classify_waiting(classifiers_->pictures());
    return status;
  }

  // Whether a worker does not return. Without workers take() would not.
  bool hangs(Clock::time_point now, milliseconds limit) {
    return workers_ && workers_->hangs(now, limit);
  }

  // Ends the workers, if there are any, and closes `pictures`.
  void stop() {
    if (pictures_ != nullptr) pictures_->close();
    workers_.reset();
  }

 private:
  bool take_rest(ClassifiedFrame& classified) {
    const auto use = feed_.selector->next(classified.frame);
    if (!use) return false;
    begin_result(*use, classified.frame, classified);
    classify(classified);
    return true;
  }

  void classify(ClassifiedFrame& classified) {
    const bool reused = classified.result.reused;
    if (!reused) classifiers_->classify(classified.frame, classified, feed_.trace);
    classified.is_last = true;
    if (classifiers_->regions() == 1) return;
    if (feed_.live && !reused && feed_.frames.has_element()) feed_.selector->leave_rest();
    classified.is_last = !feed_.selector->has_next();
  }

  const FrameFeed feed_;
  PictureQueue* const pictures_;
  // Without workers: these two.
  PlanPtr plan_;
  std::optional<ThreadPlan> classifiers_;
  std::optional<Workers> workers_;
};

// What the frame loop knows of a watch.
struct Watched {
  explicit Watched(const PipelineWatch& watch)
      : info(watch.info), region(watch.region), completer(watch.state), statistics(Clock::now()) {}
  // With the state and the statistics of `before`.
  Watched(const PipelineWatch& watch, Watched before) : Watched(std::move(before)) {
    info = watch.info;
    region = watch.region;
    completer.use(watch.state);
  }

  WatchInfoPtr info;
  std::size_t region;
  ResultCompleter completer;
  WatchStatistics statistics;  // unless it has no name
};

bool same_name(const WatchInfoPtr& one, const WatchInfoPtr& other) {
  if (!one || !other) return one == other;
  return one->name == other->name;
}

// The frame loop of the calling thread: takes classified frames and calls the reporters.
class FrameLoop {
 public:
  FrameLoop(Source& source, PlanSlot& plans, const Reporters& reporters,
            const PipelineOptions& options)
      : options_(options),
        reporters_(reporters),
        plans_(plans),
        first_(plans.current()),
        start_(Clock::now()),
        next_tick_(start_ + options.stats_interval),
        statistics_(start_),
        next_heat_(start_ + kHeatInterval),
        capture_(source, options.capture, options.trace, options.selector, options.wake),
        inference_({capture_.frames(), plans, options.selector, options.trace, source.info().live},
                   options.pictures) {}

  // Returns when the source ended or failed, the end has come or `stop` is true.
  void run(const std::atomic<bool>& stop) {
    adopt(std::exchange(first_, nullptr));
    const auto end = options_.end.value_or(Clock::time_point::max());
    while (!stop) {
      const auto now = Clock::now();
      if (now >= end) return;
      const bool hangs =
          inference_.hangs(now, options_.worker_limit) || capture_.hangs(now, options_.read_limit);
      if (!hangs) {
        tell([](Reporter& reporter) { reporter.poll(); });
      }
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
    const auto now = Clock::now();
    StatsSnapshot total = statistics_.total(capture_.counts(), now);
    for (Watched& watch : watches_) add_stats(watch, watch.statistics.total(now), total);
    if (!capture_.error() || total.captured + total.skipped > 0) tick(total);
    if (capture_.error()) std::rethrow_exception(capture_.error());
    return total;
  }

 private:
  template <typename Call>
  void tell(const Call& call) {
    for (const auto& reporter : plan_->reporters) call(*reporter);
    for (const auto& reporter : reporters_) call(*reporter);
  }

  // From now on results are of this plan. A watch is the same if it has the same name.
  void adopt(const PlanPtr& plan) {
    if (plan == plan_) return;
    std::vector<Watched> watches;
    for (const PipelineWatch& watch : plan->watches) {
      const auto before = std::find_if(watches_.begin(), watches_.end(), [&](const Watched& one) {
        return same_name(one.info, watch.info);
      });
      watches.push_back(before == watches_.end() ? Watched(watch)
                                                 : Watched(watch, std::move(*before)));
    }
    watches_ = std::move(watches);
    if (!plan_ || plan->heat_limit != plan_->heat_limit) set_heat_limit(plan->heat_limit);
    plan_ = plan;
    const WatchList watching = watch_list(*plan_);
    tell([&watching](Reporter& reporter) { reporter.watching(watching); });
  }

  void set_heat_limit(const std::optional<double>& limit) {
    if (!options_.machine_state || options_.selector == nullptr) return;
    if (heat_) options_.selector->limit_rate(std::nullopt);
    heat_.reset();
    if (limit) heat_.emplace(*limit);
  }

  static void add_stats(const Watched& watch, WatchStats stats, StatsSnapshot& all) {
    if (!watch.info) return;
    stats.watch = watch.info;
    all.watches.push_back(std::move(stats));
  }

  void tick(StatsSnapshot& stats) {
    if (options_.machine_state) stats.machine = options_.machine_state();
    tell([&stats](Reporter& reporter) { reporter.tick(stats); });
  }

  void report_interval(Clock::time_point now) {
    StatsSnapshot interval = statistics_.interval(capture_.counts(), now);
    for (Watched& watch : watches_) add_stats(watch, watch.statistics.interval(now), interval);
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
            temperature.value_or(0), *plan_->heat_limit);
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
    adopt_from(taken);
    // Changes are reported before the frames that were captured after them. Without a frame there
    // may still be older ones with the workers, which come first.
    report_changes(taken ? classified_.frame.sequence
                         : capture_.settled(statistics_.classified()).value_or(0));
    if (taken) report_frame();
    return true;
  }

  // `taken`: there is a frame. Without one, frames of the plan before may still be with the
  // workers: the plan is looked at before the count, since later frames are not of an older plan.
  void adopt_from(bool taken) {
    if (taken) {
      adopt(classified_.plan);
      return;
    }
    const PlanPtr current = plans_.current();
    if (current == plan_ || !capture_.settled(statistics_.classified())) return;
    adopt(current);
    classified_.plan.reset();
  }

  // Of one region.
  void report_frame() {
    ++heat_results_;
    const std::size_t region = classified_.region;
    bool settled = true;
    auto watch = next_watch_of(region, watches_.begin());
    while (watch != watches_.end()) {
      const auto following = next_watch_of(region, watch + 1);
      report_watch(*watch, following == watches_.end());
      settled = watch->completer.is_settled() && settled;
      watch = following;
    }
    if (options_.selector != nullptr) options_.selector->settle(region, settled);
    if (classified_.is_last && options_.trace != nullptr) {
      options_.trace->sample(classified_.frame.sequence);
    }
  }

  // `is_last`: of the region's.
  void report_watch(Watched& watch, bool is_last) {
    watch.completer.complete(classified_, capture_.frames().dropped(), !is_last);
    classified_.result.watch = watch.info;
    if (watch.info) watch.statistics.record(classified_.result, Clock::now());
    if (is_last) record();
    const TraceSpan span(options_.trace, Stage::kReport, classified_.frame.sequence);
    tell([this](Reporter& reporter) { reporter.report(classified_.result, classified_.frame); });
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
      tell([&change](Reporter& reporter) { reporter.status(change); });
    }
    if (changes_.empty()) return;
    for (Watched& watch : watches_) {
      watch.completer.forget_state();
      watch.statistics.forget();
    }
  }

  const PipelineOptions& options_;
  const Reporters& reporters_;
  PlanSlot& plans_;
  PlanPtr first_;  // until it is told of; workers may take another one before
  PlanPtr plan_;   // of the results that are reported
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

// The plan of one watch without a name, whose classifiers the caller keeps.
Plan plan_of(const std::vector<Classifier*>& classifiers, const PipelineOptions& options) {
  PipelineRegion region;
  region.model = std::make_shared<ModelInfo>(model_info(classifiers.front()->spec()));
  region.view = options.view;
  for (Classifier* classifier : classifiers) {
    region.classifiers.emplace_back(std::shared_ptr<void>(), classifier);
  }
  Plan plan;
  plan.regions.push_back(std::move(region));
  plan.watches.push_back({nullptr, 0, options.state});
  plan.top_k = options.top_k;
  return plan;
}

StatsSnapshot run_one_watch(Source& source, const std::vector<Classifier*>& classifiers,
                            const Reporters& reporters, const PipelineOptions& options,
                            const std::atomic<bool>& stop) {
  PlanSlot plans(plan_of(classifiers, options));
  return run_pipeline(source, plans, reporters, options, stop);
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

StatsSnapshot run_pipeline(Source& source, PlanSlot& plans,
                           const std::vector<std::unique_ptr<Reporter>>& reporters,
                           const PipelineOptions& options, const std::atomic<bool>& stop) {
  FrameLoop loop(source, plans, reporters, options);
  loop.run(stop);
  return loop.finish();
}

}  // namespace lookout

#include "platform/mqtt/mqtt_reporter.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/thread.h"

namespace lookout {

void MqttStatistics::record(const Result& result) {
  if (!result.watch) return statistics_.record(result);
  if (frame_.sequence != result.sequence) record_frame();
  const Region region{result.watch->roi, result.model.get()};
  const bool is_counted =
      std::any_of(regions_.begin(), regions_.end(), [&region](const Region& other) {
        return other.roi == region.roi && other.model == region.model;
      });
  if (is_counted) return;
  if (regions_.empty()) {
    frame_.sequence = result.sequence;
    frame_.frame_age = result.frame_age;
    frame_.reused = result.reused;
    frame_.durations = result.durations;
  } else {
    add_region(result, frame_);
  }
  regions_.push_back(region);
}

void MqttStatistics::record_frame() {
  if (regions_.empty()) return;
  statistics_.record(frame_);
  regions_.clear();
}

std::optional<StatsSnapshot> MqttStatistics::tick(const StatsSnapshot& stats,
                                                  Clock::time_point now) {
  // Ticks are not exact: the one that is nearest to the end of the interval counts.
  if (next_ && now + stats.interval / 2 < *next_) return std::nullopt;
  next_ = now + interval_;
  // Unless some of its watches are still to come.
  if (stats.classified > statistics_.classified()) record_frame();
  StatsSnapshot ours =
      statistics_.interval({stats.captured, stats.dropped, stats.skipped, stats.unwanted}, now);
  ours.in_flight = stats.in_flight;
  ours.machine = stats.machine;
  return ours;
}

// All that the thread uses.
class MqttReporter::Worker {
 public:
  Worker(MqttLinkOptions link, MqttFeedOptions feed, OpenMqtt open,
         std::shared_ptr<MqttCounters> counters)
      : counters_(std::move(counters)),
        slots_(feed.pictures),
        link_(std::move(link), std::move(open), counters_),
        feed_(slots_, link_, *counters_, std::move(feed)) {
    slots_.set_wake([this] { wake_.wake(); });
  }

  MqttSlots& slots() { return slots_; }

  void run() {
    try {
      while (!ending_) {
        const auto ready = poll_link(link_, wake_, std::min(link_.next_due(), feed_.next_due()));
        if (ending_) break;
        link_.advance(ready.readable, ready.writable);
        if (ending_) break;
        feed_.advance();
        link_.advance(false, false);  // sends what the feed published
      }
      finish();
    } catch (const std::exception& error) {
      log_error("mqtt: nothing is published any more: {}", error.what());
    }
    const MutexLock lock(mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  }

  // Returns whether the thread has ended by `deadline`.
  bool end_by(Clock::time_point deadline) {
    ending_ = true;
    wake_.wake();
    const MutexLock lock(mutex_);
    while (!ended_) {
      if (!ended_changed_.wait_until(mutex_, deadline)) break;
    }
    return ended_;
  }

 private:
  void finish() {
    const auto deadline = Clock::now() + kStop;
    feed_.stop();
    link_.advance(false, false);
    while (link_.connected() && !link_.idle() && Clock::now() < deadline) {
      const auto ready = poll_link(link_, wake_, deadline);
      link_.advance(ready.readable, ready.writable);
    }
    link_.close();
  }

  const std::shared_ptr<MqttCounters> counters_;
  WakeEvent wake_;
  MqttSlots slots_;
  MqttLink link_;
  MqttFeed feed_;
  std::atomic<bool> ending_ = false;
  Mutex mutex_;
  ConditionVariable ended_changed_;
  bool ended_ GUARDED_BY(mutex_) = false;
};

MqttReporter::MqttReporter(MqttLinkOptions link, MqttFeedOptions feed, OpenMqtt open,
                           std::shared_ptr<MqttCounters> counters)
    : statistics_(feed.interval, Clock::now()),
      worker_(std::make_shared<Worker>(std::move(link), std::move(feed), std::move(open),
                                       std::move(counters))) {}

void MqttReporter::watching(const WatchList& watches) {
  worker_->slots().put(watches);
  if (thread_.joinable()) return;
  thread_ = start_thread("mqtt", [worker = worker_] { worker->run(); });
}

MqttReporter::~MqttReporter() {
  if (!thread_.joinable()) return;
  if (worker_->end_by(Clock::now() + 2 * kStop)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void MqttReporter::report(const Result& result, const Frame& frame) {
  statistics_.record(result);
  worker_->slots().put(result, frame);
}

void MqttReporter::tick(const StatsSnapshot& stats) {
  if (stats.final) return;
  if (const auto ours = statistics_.tick(stats, Clock::now())) worker_->slots().put(*ours);
}

void MqttReporter::status(const CameraStatus& status) { worker_->slots().put(status); }

}  // namespace lookout

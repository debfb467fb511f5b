// The statistics that are published, whose intervals are longer than the log's.
#pragma once

#include <chrono>
#include <optional>

#include "pipeline/results/statistics.h"

namespace lookout {

// Used by the frame loop alone.
class MqttStatistics {
 public:
  // `interval`: at least, from one to the next.
  MqttStatistics(std::chrono::milliseconds interval, Clock::time_point start)
      : interval_(interval), statistics_(start) {}

  void record(const Result& result) { statistics_.record(result); }

  // `stats`: of the log's interval, which ends `now`; not the last ones of the run. Returns what
  // happened since the statistics before, or nothing when that was not long ago. The first ones
  // come at once.
  std::optional<StatsSnapshot> tick(const StatsSnapshot& stats, Clock::time_point now);

 private:
  const std::chrono::milliseconds interval_;
  Statistics statistics_;
  std::optional<Clock::time_point> next_;
};

}  // namespace lookout

#include "platform/mqtt/mqtt_statistics.h"

namespace lookout {

std::optional<StatsSnapshot> MqttStatistics::tick(const StatsSnapshot& stats,
                                                  Clock::time_point now) {
  // Ticks are not exact: the one that is nearest to the end of the interval counts.
  if (next_ && now + stats.interval / 2 < *next_) return std::nullopt;
  next_ = now + interval_;
  StatsSnapshot ours = statistics_.interval({stats.captured, stats.dropped, stats.skipped}, now);
  ours.in_flight = stats.in_flight;
  ours.machine = stats.machine;
  return ours;
}

}  // namespace lookout

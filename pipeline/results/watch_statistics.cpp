#include "pipeline/results/watch_statistics.h"

#include <algorithm>
#include <utility>

namespace lookout {

double per_second(std::uint64_t count, Clock::duration interval) {
  const double seconds = std::chrono::duration<double>(interval).count();
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void WatchStatistics::grow(std::optional<Clock::duration>& oldest, Clock::duration age) {
  oldest = std::max(oldest.value_or(age), age);
}

void WatchStatistics::record(const Result& result, Clock::time_point now) {
  ++interval_.results;
  if (!result.reused) ++interval_.computed;
  const Clock::time_point captured = now - result.frame_age;
  // The first result is as old as its frame.
  grow(interval_.oldest, now - captured_.value_or(captured));
  captured_ = captured;
}

WatchStats WatchStatistics::stats(Counts counts, Clock::time_point start,
                                  Clock::time_point now) const {
  if (captured_) grow(counts.oldest, now - *captured_);
  const Clock::duration time = now - start;
  return {nullptr, per_second(counts.results, time), per_second(counts.computed, time),
          counts.oldest};
}

WatchStats WatchStatistics::interval(Clock::time_point now) {
  WatchStats result = stats(interval_, interval_start_, now);
  before_.results += interval_.results;
  before_.computed += interval_.computed;
  if (result.oldest) grow(before_.oldest, *result.oldest);
  interval_ = {};
  interval_start_ = now;
  return result;
}

WatchStats WatchStatistics::total(Clock::time_point now) const {
  Counts counts = before_;
  counts.results += interval_.results;
  counts.computed += interval_.computed;
  if (interval_.oldest) grow(counts.oldest, *interval_.oldest);
  return stats(counts, start_, now);
}

}  // namespace lookout

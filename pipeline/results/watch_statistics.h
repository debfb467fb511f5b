// How often each watch of a run has a result, and how old its last one became.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/core/result.h"

namespace lookout {

// Of one watch in an interval.
struct WatchStats {
  WatchInfoPtr watch;       // never null
  double fps = 0;           // results per second, those that were reused included
  double computed_fps = 0;  // the others of these
  // The longest time that passed since the capture of the frame that its last result was of; empty:
  // it has no result yet.
  std::optional<Clock::duration> oldest;
};

// How many of `count` things came in a second of `interval`; 0 when it took no time.
double per_second(std::uint64_t count, Clock::duration interval);

// Used by the inference thread alone.
class WatchStatistics {
 public:
  explicit WatchStatistics(Clock::time_point start) : start_(start), interval_start_(start) {}

  void record(const Result& result, Clock::time_point now);
  // The camera went away: nothing can be told of that time.
  void forget() { captured_.reset(); }

  // Both leave the watch empty. The interval since the last call, or since the start; begins the
  // next one.
  WatchStats interval(Clock::time_point now);
  // Since the start.
  WatchStats total(Clock::time_point now) const;

 private:
  struct Counts {
    std::uint64_t results = 0;
    std::uint64_t computed = 0;
    std::optional<Clock::duration> oldest;
  };

  static void grow(std::optional<Clock::duration>& oldest, Clock::duration age);
  WatchStats stats(Counts counts, Clock::time_point start, Clock::time_point now) const;

  Clock::time_point start_;
  Clock::time_point interval_start_;
  std::optional<Clock::time_point> captured_;  // the frame of the last result
  Counts interval_;
  Counts before_;  // since the start, until interval_start_
};

}  // namespace lookout

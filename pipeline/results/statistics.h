// Rates and latency percentiles, over an interval and over the whole run, in constant memory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "pipeline/core/result.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/watch_statistics.h"

namespace lookout {

struct Percentiles {
  Clock::duration p50{};
  Clock::duration p95{};
  Clock::duration p99{};
  Clock::duration max{};
};

// By nearest rank: p95 is the smallest value that 95 % of all values do not exceed. Counted from 1,
// the place of that value among `count` sorted ones; `share` is 0..1.
std::uint64_t nearest_rank(std::uint64_t count, double share);

// By nearest rank, of at least one value.
Percentiles find_percentiles(std::vector<Clock::duration> values);

// Counts durations in buckets, 64 per doubling: a percentile is at most 1/64 above its true value.
// Covers 1 us .. 2^32 us; the maximum is exact.
class LatencyHistogram {
 public:
  void record(Clock::duration duration);  // negative counts as zero
  void add(const LatencyHistogram& other);
  // By nearest rank. All zero when nothing was recorded.
  Percentiles percentiles() const;

 private:
  static constexpr int kSubBits = 6;
  static constexpr int kOctaves = 32 - kSubBits;
  static std::size_t bucket(std::uint64_t us);
  static std::uint64_t upper_bound(std::size_t bucket);
  Clock::duration rank(double share) const;

  std::array<std::uint64_t, (kOctaves + 1) << kSubBits> buckets_{};
  std::uint64_t count_ = 0;
  Clock::duration max_{};
};

// Rates and percentiles of an interval, and the counters since the start. The percentiles are of
// frames whose result was computed: those of the others would be near zero.
struct StatsSnapshot {
  Clock::duration interval{};
  double camera_fps = 0;      // frames read from the source per second
  double classified_fps = 0;  // frames classified per second, those with a reused result included
  double computed_fps = 0;    // the others of these
  // Since the start. captured = classified + unwanted + dropped + in_flight.
  std::uint64_t captured = 0;
  std::uint64_t classified = 0;
  std::uint64_t reused = 0;     // of these: their result is that of the frame before
  std::uint64_t unwanted = 0;   // never classified, since they came sooner than the rate allows
  std::uint64_t dropped = 0;    // never classified, because a newer frame came first
  std::uint64_t skipped = 0;    // frames or files that could not be read; not in captured
  std::uint64_t in_flight = 0;  // captured, but none of these yet
  Percentiles frame_age;
  Percentiles capture;
  Percentiles preprocess;
  Percentiles inference;
  Percentiles total;
  MachineState machine;             // at the end of the interval
  std::vector<WatchStats> watches;  // empty: what is watched has no name
  // True for the last snapshot, whose rates and percentiles are those of the whole run.
  bool final = false;
};

// Counters of frames at one moment, but for those with a result.
struct CaptureCounts {
  std::uint64_t captured = 0;
  std::uint64_t dropped = 0;
  std::uint64_t skipped = 0;
  std::uint64_t unwanted = 0;
};

// Adds the times of a further region to those of the others of the same frame, which counts once.
void add_region(const Result& region, Result& frame);

// Used by the inference thread alone.
class Statistics {
 public:
  explicit Statistics(Clock::time_point start);

  void record(const Result& result);
  // Results recorded since the start.
  std::uint64_t classified() const { return classified_; }
  // Returns the interval since the last call, or since the start, and begins the next one.
  StatsSnapshot interval(const CaptureCounts& counts, Clock::time_point now);
  // The whole run.
  StatsSnapshot total(const CaptureCounts& counts, Clock::time_point now) const;

 private:
  struct Stages {
    LatencyHistogram frame_age;
    LatencyHistogram capture;
    LatencyHistogram preprocess;
    LatencyHistogram inference;
    LatencyHistogram total;
  };
  StatsSnapshot snapshot(const Stages& stages, const CaptureCounts& counts) const;

  Clock::time_point start_;
  Clock::time_point interval_start_;
  CaptureCounts interval_counts_;  // at interval_start_
  std::uint64_t classified_ = 0;
  std::uint64_t reused_ = 0;
  std::uint64_t interval_classified_ = 0;  // classified_ at interval_start_
  std::uint64_t interval_reused_ = 0;      // likewise
  Stages interval_stages_;
  Stages run_stages_;  // until interval_start_
};

}  // namespace lookout

// Rates and latency percentiles, over an interval and over the whole run, in constant memory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "pipeline/result.h"
#include "pipeline/results/machine_state.h"

namespace lookout {

struct Percentiles {
  Clock::duration p50{};
  Clock::duration p95{};
  Clock::duration p99{};
  Clock::duration max{};
};

// Counts durations in buckets whose width grows with the duration, 64 to each doubling, so that a
// percentile is off by at most 1/64 of its value. Covers 1 us .. 2^32 us; the maximum is exact.
class LatencyHistogram {
 public:
  void record(Clock::duration duration);  // negative counts as zero
  void add(const LatencyHistogram& other);
  // The smallest recorded value that at least the given share of all values does not exceed
  // (nearest rank), within the error above. All zero when nothing was recorded.
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

// A value: what happened in an interval, with the counters since the start.
struct StatsSnapshot {
  Clock::duration interval{};
  double camera_fps = 0;      // frames read from the source, a second
  double classified_fps = 0;  // frames classified, a second
  // Since the start. captured = classified + dropped + in_flight.
  std::uint64_t captured = 0;
  std::uint64_t classified = 0;
  std::uint64_t dropped = 0;    // never classified, because a newer frame came first
  std::uint64_t skipped = 0;    // elements of the input that could not be read; not in captured
  std::uint64_t in_flight = 0;  // captured, neither classified nor dropped yet
  Percentiles frame_age;
  Percentiles capture;
  Percentiles preprocess;
  Percentiles inference;
  Percentiles total;
  MachineState machine;  // at the end of the interval
  // True once, at the end: rates and percentiles are then over the whole run.
  bool final = false;
};

// Counters of the capture side at one moment.
struct CaptureCounts {
  std::uint64_t captured = 0;
  std::uint64_t dropped = 0;
  std::uint64_t skipped = 0;
};

// Used by the inference thread alone.
class Statistics {
 public:
  explicit Statistics(Clock::time_point start);

  void record(const Result& result);
  // How many were recorded since the start.
  std::uint64_t classified() const { return classified_; }
  // The interval since the last call (or the start); begins the next one.
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
  std::uint64_t interval_classified_ = 0;  // classified_ at interval_start_
  Stages interval_stages_;
  Stages run_stages_;  // everything before interval_start_
};

}  // namespace lookout

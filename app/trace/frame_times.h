// The frames of a trace: how long each part of their way took, and which were unusually slow.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/trace/time_use.h"
#include "app/trace/trace_events.h"
#include "pipeline/results/statistics.h"

namespace lookout {

using Times = std::map<std::string, Clock::duration>;  // by the name of a part

// A complete frame, from capture to report, or a step of PyTorch's profiler.
struct FrameTimes {
  TraceTime start{};
  TraceTime end{};
  Times stages;     // queue-wait, too
  StageTime use;    // of its stages on threads, together
  Times operators;  // self times
  bool captured = false;
  bool reported = false;
  Clock::duration total() const { return end - start; }
  // Between its stages: after one ended and before the next one began.
  Clock::duration between() const;
};

using Frames = std::map<std::uint64_t, FrameTimes>;  // by number

// The name of the time from the start of the first stage to the end of the last.
inline constexpr const char* kTotalTime = "total";

// The slices have their self times.
Frames find_frames(const TraceEvents& events);

// Nearest rank, of at least one value.
Percentiles percentiles(std::vector<Clock::duration> values);

// The times of each stage; also kTotalTime.
std::map<std::string, Percentiles> stage_percentiles(const Frames& frames);

// A frame that took unusually long.
struct Outlier {
  // The time that a stage or an operator took in it, and how much that is above its median.
  struct Part {
    std::string name;
    Clock::duration time{};
    Clock::duration above_median{};
  };
  std::uint64_t number = 0;
  Clock::duration total{};
  StageTime use;
  std::vector<Part> stages;     // the one most above its median first
  std::vector<Part> operators;  // the same by self time; only a few
};

// The total time that an outlier has at least. `frames`: at least one.
Clock::duration cut_off(const OutlierRule& rule, const Frames& frames);

// The slowest first. By a percentile, no more than lie above it, also when many frames took as
// long. `frames`: at least one.
std::vector<Outlier> find_outliers(const OutlierRule& rule, const Frames& frames);

}  // namespace lookout

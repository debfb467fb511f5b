// Where the time of a run went, computed from its trace. Frames in which nothing moved, so that the
// last result was taken again, count in the rate and in the threads' times alone: with them a still
// scene would make any model a fast one.
//
// What a thread did with its time. The parts of a thread add up to the duration of the trace:
//
// in a stage
//   ran              the CPU time of the thread.
//   writer           The thread waited for a reader of results, such as a pipe whose other end is
//                    slow. Only the stage "report" does so, and only for sources that wait, such as
//                    files: results of a camera are dropped instead. The writer measures it.
//   off CPU          The rest. Mostly the thread waited for a processor that other threads or
//                    programs had. In "inference" on several threads it also waited for those that
//                    compute with it, in "capture" of a video for those that decode it; reading
//                    files from a slow disk looks the same.
// between stages (idle)
//   camera           There was no new frame: the thread waited for the camera, or another source.
//   capture          A new frame was being copied, converted or decoded by the capture thread.
//   model            The thread waited for the model: the capture thread for room in the double
//                    buffer, the thread that reports for the workers.
//   other            The rest: results completed, statistics, the thread waking up, the trace's
//                    beginning and end.
//
// Without CPU times ("cpu_us") all of a stage counts as ran.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/options/options.h"
#include "app/trace/trace_events.h"
#include "app/trace/verdict.h"
#include "pipeline/core/frame.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct StageTime {
  Clock::duration ran{};
  Clock::duration off_cpu{};
  Clock::duration writer{};
  Clock::duration wall() const;
  void add(const StageTime& more);
};

struct IdleTime {
  Clock::duration camera{};
  Clock::duration capture{};
  Clock::duration model{};
  Clock::duration other{};
  Clock::duration sum() const { return camera + capture + model + other; }
};

// The parts of both with their names in texts.
struct StagePart {
  const char* name;
  Clock::duration StageTime::*time;
};
inline constexpr std::array<StagePart, 3> kStageParts{{{"ran", &StageTime::ran},
                                                       {"did not run", &StageTime::off_cpu},
                                                       {"writer", &StageTime::writer}}};
struct IdlePart {
  const char* name;  // in JSON, too
  Clock::duration IdleTime::*time;
};
inline constexpr std::array<IdlePart, 4> kIdleParts{{{"camera", &IdleTime::camera},
                                                     {"capture", &IdleTime::capture},
                                                     {"model", &IdleTime::model},
                                                     {"other", &IdleTime::other}}};

// The name of the time from the start of a frame's first stage to the end of its last.
inline constexpr const char* kTotalTime = "total";

// Orders names of stages: those of lookout on a frame's way, then others, kTotalTime at the end.
struct StageOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};
template <typename Value>
using ByStage = std::map<std::string, Value, StageOrder>;

struct ThreadTime {
  std::string name;
  Clock::duration busy{};     // in any slice
  ByStage<StageTime> stages;  // all frames together
  IdleTime idle;              // between the slices
  StageTime in_stages() const;
};

using Times = std::map<std::string, Clock::duration>;  // by the name of a part

// A complete frame, from capture to report, or a step of PyTorch's profiler.
struct FrameTimes {
  TraceTime start{};
  TraceTime end{};
  Times stages;     // queue-wait, too
  StageTime use;    // of its stages on threads, together
  Times operators;  // self times
  Clock::duration total() const { return end - start; }
  // Between its stages: after one ended and before the next one began.
  Clock::duration between() const;
};

using Frames = std::map<std::uint64_t, FrameTimes>;  // by number

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

// All calls of one operator, or those in one layer, or in one label.
struct OperatorTime {
  std::string name;
  std::uint64_t calls = 0;
  Clock::duration total{};
  Clock::duration self{};  // without the operators that it called
  double share = 0;        // of the self time of all rows, 0..1
  // Times of single calls:
  Clock::duration min{};
  Clock::duration max{};
  double mean_ms = 0;
  double deviation_ms = 0;  // standard deviation
  std::int64_t bytes = 0;   // allocated by all calls; 0: unknown or none
};

struct OperatorBreakdown {
  std::vector<OperatorTime> by_name;   // largest self time first
  std::vector<OperatorTime> by_layer;  // empty: the trace has no layers
  std::vector<OperatorTime> by_label;  // empty: the model has none
};

// Figures of a counter's values, each weighted by the time that it held. The last one holds until
// the end of the trace.
struct CounterSummary {
  std::string name;
  std::string unit;
  std::size_t count = 0;  // of the values in the file
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;  // standard deviation
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  std::vector<std::pair<TraceTime, double>> values;  // sorted by time
};

struct TraceSummary {
  std::map<std::string, std::string> about;  // facts about the run: model, version, ...
  bool by_pytorch = false;                   // frames are steps, and have no stages
  bool has_cpu_times = false;                // of stages
  TraceTime start{};                         // of the first event
  Clock::duration duration{};                // from there to the end of the last event
  double fps = 0;                            // frames a second, from the first capture to the last
  Verdict verdict;
  std::vector<ThreadTime> threads;  // those that have slices, in the order of their numbers
  Frames frames;                    // complete ones that were computed
  std::size_t reused = 0;           // complete ones with the result of one before
  ByStage<Percentiles> stages;      // of a frame; also kTotalTime, unless there are no frames
  OperatorBreakdown operators;
  std::vector<CounterSummary> counters;  // those of frames first
  OutlierRule rule;
  Clock::duration cut_off{};  // outliers have at least this total time
  // The slowest first. By a percentile, no more than lie above it, also when many frames took as
  // long.
  std::vector<Outlier> outliers;
  Percentiles total() const;  // of a frame; zero without frames
};

// Throws as read_trace_events() does.
TraceSummary summarize_trace(std::istream& json, const OutlierRule& outliers = {});

}  // namespace lookout

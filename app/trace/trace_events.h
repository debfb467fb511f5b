// The events of a trace file, as lookout trace-summary needs them: one of `lookout run --trace`, or
// one that PyTorch's profiler exported (export_chrome_trace).
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/frame.h"

namespace lookout {

// The file has times in microseconds with decimals. They are kept in whole nanoseconds, whose sums
// are exact.
using TraceTime = Clock::duration;  // since the start of the trace

enum class SliceKind : std::uint8_t {
  kStage,     // of a frame
  kOperator,  // a call
  kLabel,     // a part of a model that its author named (record_function); contains operators
  kStep,      // a step of PyTorch's profiler (ProfilerStep#7)
  kOther,
};

struct TraceSlice {
  std::int64_t thread = 0;
  std::string name;
  SliceKind kind = SliceKind::kOther;
  std::optional<std::uint64_t> frame;
  TraceTime start{};
  Clock::duration duration{};
  Clock::duration self{};              // without the slices within it; not in the file
  std::optional<Clock::duration> cpu;  // of a stage: that its thread ran
  Clock::duration writer{};            // of a stage: that it waited for a reader of results
  std::string layer;                   // of an operator: "features.3.conv.0"; empty: unknown
  std::int64_t bytes = 0;              // of an operator: that it allocated
  TraceTime end() const { return start + duration; }
};

// The time that a frame waited in the queue.
struct TraceWait {
  std::optional<TraceTime> start;
  std::optional<TraceTime> end;
};

// A value over time: each holds until the next one.
struct TraceCounter {
  std::string unit;  // "frames"
  std::vector<std::pair<TraceTime, double>> values;
};

struct TraceEvents {
  bool by_pytorch = false;
  std::vector<TraceSlice> slices;
  std::map<std::int64_t, std::string> threads;  // thread -> its name
  std::map<std::uint64_t, TraceWait> waits;     // frame -> its wait
  std::map<std::string, TraceCounter> counters;
  std::map<std::string, std::string> about;  // facts about the run: "model" -> "mobilenet_v2"
};

// Reads the events one by one, so that a large trace need not fit into memory as JSON. Throws
// Error(kBadData) whose sentence continues the file's name ("is not JSON"), and
// std::ios_base::failure when `json` is a file that cannot be read.
TraceEvents read_trace_events(std::istream& json);

}  // namespace lookout

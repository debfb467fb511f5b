// The events of a trace file of `lookout run --trace`, as lookout trace-summary needs them.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/frame.h"

namespace lookout {

// The file has times in microseconds with decimals. They are kept in whole nanoseconds, whose sums
// are exact.
using TraceTime = Clock::duration;  // since the start of the trace

struct TraceSlice {
  std::int64_t thread = 0;
  std::string name;
  std::string category;  // "stage" or "operator"
  std::optional<std::uint64_t> frame;
  TraceTime start{};
  Clock::duration duration{};
  Clock::duration self{};  // without the slices within it; not in the file
  TraceTime end() const { return start + duration; }
};

// The time that a frame waited in the queue.
struct TraceWait {
  std::optional<TraceTime> start;
  std::optional<TraceTime> end;
};

struct TraceEvents {
  std::vector<TraceSlice> slices;
  std::map<std::int64_t, std::string> threads;  // thread -> its name
  std::map<std::uint64_t, TraceWait> waits;     // frame -> its wait
  std::map<std::string, std::string> about;     // facts about the run: "model" -> "mobilenet_v2"
};

// Reads the events one by one, so that a large trace need not fit into memory as JSON. Throws
// Error(kBadData) whose sentence continues the file's name ("is not JSON"), and
// std::ios_base::failure when `json` is a file that cannot be read.
TraceEvents read_trace_events(std::istream& json);

}  // namespace lookout

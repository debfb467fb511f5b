// The events of a trace file of `lookout run --trace`, as lookout trace-summary needs them.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

// Times in nanoseconds: the file's microseconds, without the errors of sums of fractions.
struct TraceSlice {
  std::int64_t thread = 0;
  std::string name;
  std::string category;  // "stage" or "operator"
  std::optional<std::uint64_t> frame;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t self = 0;  // less what lies within it; not in the file
  std::int64_t end() const { return start + duration; }
};

// In the queue.
struct TraceWait {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> end;
};

struct TraceEvents {
  std::vector<TraceSlice> slices;
  std::map<std::int64_t, std::string> threads;  // names
  std::map<std::uint64_t, TraceWait> waits;     // of frames
  std::map<std::string, std::string> about;     // the run
};

// Looks at events as they are read, so that a large trace need not fit into memory as JSON. Throws
// Error(kBadData) with what is wrong, in words that follow the file's name.
TraceEvents read_trace_events(std::istream& json);

}  // namespace lookout

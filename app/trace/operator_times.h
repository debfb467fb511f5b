// The operators of a trace: how long their calls took, by name, by layer and by label.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/trace/trace_events.h"
#include "pipeline/core/frame.h"

namespace lookout {

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
  double deviation_ms = 0;      // standard deviation
  std::uint64_t max_frame = 0;  // the frame of the longest call
  std::int64_t bytes = 0;       // allocated by all calls; 0: unknown or none
};

struct OperatorBreakdown {
  std::vector<OperatorTime> by_name;   // largest self time first
  std::vector<OperatorTime> by_layer;  // empty: the trace has no layers
  std::vector<OperatorTime> by_label;  // empty: the model has none
};

// The slices have their self times.
OperatorBreakdown operator_breakdown(const std::vector<TraceSlice>& slices);

}  // namespace lookout

// The summary of a trace as text and as JSON: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "app/report/charts.h"
#include "app/trace/trace_summary.h"
#include "pipeline/core/json_text.h"

namespace lookout {

// With a newline at the end.
std::string to_text(const TraceSummary& summary);

nlohmann::ordered_json to_json(const TraceSummary& summary);

// The total times of the frames in milliseconds, and the percentiles that a histogram of them
// points out. There is at least one frame.
std::vector<double> totals_ms(const TraceSummary& summary);
std::vector<Mark> latency_marks(const TraceSummary& summary);

// "frame" or "frames"; those of PyTorch's profiler are "steps".
std::string frame_word(const TraceSummary& summary, std::size_t count = 1);

// "p99" or "50 ms": the rule for outliers.
std::string to_text(const OutlierRule& rule);

}  // namespace lookout

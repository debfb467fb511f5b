// The summary of a trace as text and as JSON: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "app/trace/trace_summary.h"
#include "pipeline/core/json_text.h"

namespace lookout {

// With a newline at the end.
std::string to_text(const TraceSummary& summary);

nlohmann::ordered_json to_json(const TraceSummary& summary);

// "frame" or "frames"; those of PyTorch's profiler are "steps".
std::string frame_word(const TraceSummary& summary, std::size_t count = 1);

// "p99" or "50 ms": the rule for outliers.
std::string to_text(const OutlierRule& rule);

}  // namespace lookout

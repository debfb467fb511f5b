// The summary of one trace as a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/report/charts.h"
#include "app/report/report.h"
#include "app/trace/trace_summary.h"

namespace lookout {

struct TraceFile {
  std::string file;
  TraceSummary summary;
};

// The report refers to `trace`.
Report make_report(const TraceFile& trace);

nlohmann::ordered_json to_json(const TraceSummary& summary);

// "frame", or "step" of a trace of PyTorch's profiler; with an "s" unless there is one.
std::string frame_word(bool by_pytorch, std::size_t count = 1);

// The stages of a frame in their order, as parts of a bar.
const Legend& stage_legend();

}  // namespace lookout

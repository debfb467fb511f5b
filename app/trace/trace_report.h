// What traces say, as reports: one, several side by side. See trace_compare.h for two.
#pragma once

#include <string>
#include <vector>

#include "app/report/charts.h"
#include "app/report/json.h"
#include "app/report/report.h"
#include "app/trace/trace_summary.h"

namespace lookout {

struct TraceFile {
  std::string file;
  TraceSummary summary;
};

// The reports refer to the traces.
Report make_report(const TraceFile& trace);
// Which of several boards is slowest, and which operator differs. At least two, each with a frame.
Report make_report(const std::vector<TraceFile>& boards);

Json to_json(const TraceSummary& summary);

// An array of what `convert` makes of each row.
template <typename Rows, typename Convert>
Json array_of(const Rows& rows, const Convert& convert) {
  Json array = Json::array();
  for (const auto& row : rows) array.push_back(convert(row));
  return array;
}

// "frame", or "step" of a trace of PyTorch's profiler; with an "s" unless there is one.
std::string frame_word(bool by_pytorch, std::size_t count = 1);

// The stages of a frame in their order, as parts of a bar.
const Legend& stage_legend();

}  // namespace lookout

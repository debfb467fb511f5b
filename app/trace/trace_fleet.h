// The traces of several boards side by side: which is slowest, and which operator differs.
#pragma once

#include <vector>

#include "app/report/report.h"
#include "app/trace/trace_report.h"

namespace lookout {

// `boards`: at least two, each with a frame. The report refers to them.
Report make_report(const std::vector<TraceFile>& boards);

}  // namespace lookout

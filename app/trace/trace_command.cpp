#include "app/trace/trace_command.h"

#include <string>
#include <vector>

#include "app/report/report.h"
#include "app/trace/trace_compare.h"
#include "app/trace/trace_report.h"
#include "pipeline/core/error.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

// `alone`: no other trace is compared with it.
TraceSummary read_summary(const std::string& file, const OutlierRule& outliers, bool alone) {
  try {
    TraceSummary summary;
    read_input("trace", file,
               [&](std::istream& json) { summary = summarize_trace(json, outliers); });
    const bool has_operators = summary.by_pytorch && !summary.operators.by_name.empty();
    if (summary.frames.empty() && !has_operators) {
      throw Error(ErrorKind::kBadData,
                  "has no frames in it: let the run go on until the log says that the trace is "
                  "written");
    }
    if (summary.frames.empty() && !alone) {
      throw Error(ErrorKind::kBadData,
                  "has no steps that others can be compared with: call step() of PyTorch's "
                  "profiler after each picture, or show the trace alone");
    }
    return summary;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    throw Error(error.kind(), "trace " + file + " " + error.what());
  }
}

}  // namespace

void trace_summary(const TraceSummaryOptions& options, const WritePart& print) {
  if (options.compare && options.files.size() != 2) {
    throw Error(ErrorKind::kUsage,
                "--compare takes two traces, the one before a change and the one after it");
  }
  const ReportFile page("report", options.html, ReportFormat::kHtml);
  const bool alone = options.files.size() == 1;
  std::vector<TraceFile> traces;
  for (const std::string& file : options.files) {
    traces.push_back({file, read_summary(file, options.outliers, alone)});
  }
  const Report report = options.compare ? make_comparison(traces.front(), traces.back())
                        : alone         ? make_report(traces.front())
                                        : make_report(traces);
  save_and_print(report, {&page}, options.format, print);
}

}  // namespace lookout

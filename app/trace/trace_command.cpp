#include "app/trace/trace_command.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/report/json.h"
#include "app/output/save_and_print.h"
#include "app/report/machine_facts.h"
#include "app/trace/trace_compare.h"
#include "app/trace/trace_fleet.h"
#include "app/trace/trace_page.h"
#include "app/trace/trace_text.h"
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

std::string to_page(const std::vector<BoardTrace>& boards, bool compared) {
  const std::string footer = made_by(LOOKOUT_VERSION);
  if (compared) return comparison_html(boards.front(), boards.back(), footer);
  return boards.size() == 1 ? to_html(boards.front().summary, boards.front().file, footer)
                            : to_html(boards, footer);
}

std::string to_comparison(const std::vector<BoardTrace>& boards, Format format) {
  if (format == Format::kText) return comparison_text(boards.front(), boards.back());
  return to_text(comparison_json(boards.front(), boards.back())) + "\n";
}

std::string to_report(const std::vector<BoardTrace>& boards, Format format) {
  const bool one = boards.size() == 1;
  if (format == Format::kJson) {
    return to_text(one ? to_json(boards.front().summary) : to_json(boards)) + "\n";
  }
  return one ? to_text(boards.front().summary) : to_text(boards);
}

}  // namespace

void trace_summary(const TraceSummaryOptions& options, const WritePart& print) {
  if (options.compare && options.files.size() != 2) {
    throw Error(ErrorKind::kUsage,
                "--compare takes two traces, the one before a change and the one after it");
  }
  std::optional<AtomicFile> page;
  if (!options.html.empty()) page.emplace("report", options.html);
  std::vector<BoardTrace> boards;
  for (const std::string& file : options.files) {
    boards.push_back({file, read_summary(file, options.outliers, options.files.size() == 1)});
  }
  save_and_print(
      {{page, page ? to_page(boards, options.compare) : std::string()}},
      options.compare ? to_comparison(boards, options.format) : to_report(boards, options.format),
      print);
}

}  // namespace lookout

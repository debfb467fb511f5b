// Bytes as a trace: a summary, or Error(kBadData).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "app/trace/trace_report.h"
#include "pipeline/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream json(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const lookout::TraceFile trace{"trace.json", lookout::summarize_trace(json)};
    const std::vector<lookout::TraceFile> traces{trace, trace};
    for (const lookout::Report& report :
         {lookout::make_report(trace), lookout::make_report(traces)}) {
      static_cast<void>(lookout::to_text(report));
      static_cast<void>(lookout::to_json(report));
      static_cast<void>(lookout::to_html(report, ""));
    }
  } catch (const lookout::Error& error) {
    if (error.kind() != lookout::ErrorKind::kBadData) std::abort();
  }
  return 0;
}

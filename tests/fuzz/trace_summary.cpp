// Bytes as a trace: a summary, or Error(kBadData).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "app/trace/trace_page.h"
#include "app/trace/trace_text.h"
#include "pipeline/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream json(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const lookout::TraceSummary summary = lookout::summarize_trace(json);
    static_cast<void>(lookout::to_text(summary));
    static_cast<void>(lookout::to_json(summary));
    static_cast<void>(lookout::to_html(summary, "trace.json", ""));
    static_cast<void>(lookout::to_html({{"a", summary}, {"b", summary}}, ""));
  } catch (const lookout::Error& error) {
    if (error.kind() != lookout::ErrorKind::kBadData) std::abort();
  }
  return 0;
}

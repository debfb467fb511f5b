// The summary of one trace, or of several, as an HTML page.
#pragma once

#include <string>
#include <vector>

#include "app/trace/trace_fleet.h"
#include "app/trace/trace_summary.h"

namespace lookout {

// `file`: the trace. `made_by`: the footer.
std::string to_html(const TraceSummary& summary, const std::string& file,
                    const std::string& made_by);

// `boards`: at least two.
std::string to_html(const std::vector<BoardTrace>& boards, const std::string& made_by);

}  // namespace lookout

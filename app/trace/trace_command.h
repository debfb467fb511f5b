// lookout trace-summary: where the time went, from one trace or several.
#pragma once

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Gives the report on the files to `print`, and saves it as a page when the options name a file for
// that. Throws Error(kNoInput), Error(kPermission), Error(kBadData) or Error(kOutput).
void trace_summary(const TraceSummaryOptions& options, const WritePart& print);

}  // namespace lookout

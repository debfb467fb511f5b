// Tries what a run needs, as the run would use it.
#pragma once

#include <string>

#include "pipeline/run/scheduling.h"
#include "platform/cameras/source_options.h"

namespace lookout {

// Opens a source and, unless it is live, reads up to the first frame, for at most ten seconds.
// Returns its description. Throws the errors of open_source(), and Error(kNoInput) when there is no
// frame in it.
std::string try_source(const std::string& text, const SourceOptions& options);

// Schedules a thread that ends at once, not the calling one. Returns a text about what was granted.
// Throws Error.
std::string try_scheduling(const Scheduling& scheduling);

}  // namespace lookout

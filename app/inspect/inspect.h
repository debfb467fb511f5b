// lookout inspect: describes a model archive.
#pragma once

#include <string>

#include "app/options/options.h"

namespace lookout {

// The report, with a newline at its end. Without `options.run` and a device nothing of the archive
// is run, and no engine is loaded. Throws Error.
std::string inspect(const InspectOptions& options);

}  // namespace lookout

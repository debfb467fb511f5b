// lookout inspect: describes a model archive.
#pragma once

#include <string>

#include "app/options/options.h"

namespace lookout {

// The report, with a newline at its end. Throws Error.
std::string inspect(const InspectOptions& options);

}  // namespace lookout

// What a watch that is taught may be called, and what it may look at.
#pragma once

#include <string>

#include "platform/teach/teach_library.h"

namespace lookout {

// These throw TeachError.
void check_watch(const TaughtWatch& watch, const TeachLimits& limits);
// The name of a class.
void check_class(const std::string& label);

}  // namespace lookout

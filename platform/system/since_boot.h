// The clock that is never set.
#pragma once

#include <chrono>

namespace lookout {

// Since the machine's start, including the time for which it slept (CLOCK_BOOTTIME).
std::chrono::nanoseconds since_boot();

}  // namespace lookout

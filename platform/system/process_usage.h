// Time and memory that this process has used so far.
#pragma once

#include <cstdint>

#include "pipeline/core/frame.h"

namespace lookout {

struct ProcessUsage {
  Clock::duration age{};  // since its start, before its libraries were loaded; precise to 10 ms
  Clock::duration cpu{};  // all threads together
  std::uint64_t resident_bytes = 0;  // libraries included
};

ProcessUsage process_usage();

// ProcessUsage::cpu alone, in seconds.
double cpu_seconds();

}  // namespace lookout

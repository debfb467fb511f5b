// What this process has taken of the machine so far.
#pragma once

#include <cstdint>

#include "pipeline/frame.h"

namespace lookout {

struct ProcessUsage {
  Clock::duration age{};  // since it was started, before its libraries were loaded; to 10 ms
  Clock::duration cpu{};  // of all its threads
  std::uint64_t resident_bytes = 0;  // of memory, libraries included
};

ProcessUsage process_usage();

}  // namespace lookout

// How often a run has statistics.
#pragma once

#include <chrono>

namespace lookout {

// `option`: LogOptions::stats_interval.
std::chrono::milliseconds stats_interval(std::chrono::milliseconds option);

}  // namespace lookout

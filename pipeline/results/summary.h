// The summary of a run for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"

namespace lookout {

// Rates and counters, then a table with a row for each stage. Lines without newlines, of at most
// `columns` characters where that is 26 or more; below 50 the table has fewer percentiles. What
// slows the machine down is a line of any length.
std::vector<std::string> summary_lines(const StatsSnapshot& stats, std::size_t columns);

}  // namespace lookout

// Charts over time, as inline SVG in the width of their card; see charts.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/report/charts.h"

namespace lookout {

// One of many bars side by side, its parts from below to above.
struct TimeColumn {
  std::string title;          // shown when it is pointed at
  std::vector<double> parts;  // >= 0
};

// Below a legend, if there are several `parts`. Above kMaxColumns, each column shows the highest of
// several neighbours. `line`: across the chart.
inline constexpr std::size_t kMaxColumns = 240;
std::string column_chart(const std::string& description, const std::vector<TimeColumn>& columns,
                         const Legend& parts, const Mark& line, const std::string& unit);

// A value over time. Each holds until the next one, the last until `end`.
struct TimeSteps {
  std::vector<std::pair<double, double>> values;  // seconds and value, sorted; at least one
  double end = 0;                                 // seconds; the chart begins at 0
  std::string unit;
};

// Begins at 0, or where that would hide all changes, below the least value. Above kMaxSteps, a step
// goes from the least to the highest of several neighbours.
inline constexpr std::size_t kMaxSteps = 500;
std::string step_chart(const std::string& description, const TimeSteps& steps);

}  // namespace lookout

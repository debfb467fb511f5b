#include "pipeline/results/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kNameColumns = 10;
constexpr std::size_t kNumberColumns = 10;
constexpr std::size_t kNarrowNumberColumns = 8;

// Puts as many of the parts on a line as there is room for.
void append_filled(const std::vector<std::string>& parts, std::size_t columns,
                   std::vector<std::string>& lines) {
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty() && line.size() + 1 + part.size() > columns) {
      lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) line += ' ';
    line += part;
  }
  lines.push_back(std::move(line));
}

// The table's percentiles, as indices of named().
std::vector<std::size_t> shown_percentiles(std::size_t columns) {
  if (columns >= kNameColumns + 4 * kNumberColumns) return {0, 1, 2, 3};
  if (columns >= kNameColumns + 3 * kNarrowNumberColumns) return {0, 2, 3};
  return {0, 3};
}

void append_table(const StatsSnapshot& stats, std::size_t columns,
                  std::vector<std::string>& lines) {
  const std::vector<std::size_t> shown = shown_percentiles(columns);
  const std::size_t width = shown.size() == 4 ? kNumberColumns : kNarrowNumberColumns;
  std::string head = fmt::format("{:<{}}", "ms", kNameColumns);
  const auto names = named(stats.total);
  for (const std::size_t i : shown) head += fmt::format("{:>{}}", names[i].first, width);
  lines.push_back(std::move(head));
  for (const auto& [name, times] : latencies(stats)) {
    std::string row = fmt::format("{:<{}}", name, kNameColumns);
    const auto percentiles = named(*times);
    for (const std::size_t i : shown) {
      row += fmt::format("{:>{}.1f}", to_ms(percentiles[i].second), width);
    }
    lines.push_back(std::move(row));
  }
}

}  // namespace

std::vector<std::string> summary_lines(const StatsSnapshot& stats, std::size_t columns) {
  const double seconds = std::chrono::duration<double>(stats.interval).count();
  std::vector<std::string> lines;
  append_filled({fmt::format("summary of {:.1f} s:", seconds),
                 fmt::format("camera {:.1f} fps,", stats.camera_fps),
                 fmt::format("classified {:.1f} fps", stats.classified_fps)},
                columns, lines);
  std::vector<std::string> counts{fmt::format("{} captured =", stats.captured),
                                  fmt::format("{} classified +", stats.classified)};
  if (stats.unwanted > 0) counts.push_back(fmt::format("{} not wanted +", stats.unwanted));
  counts.push_back(fmt::format("{} dropped +", stats.dropped));
  counts.push_back(fmt::format("{} in flight", stats.in_flight));
  append_filled(counts, columns, lines);
  if (stats.reused > 0) {
    append_filled({fmt::format("{} of the results were reused,", stats.reused),
                   fmt::format("{:.1f} fps computed", stats.computed_fps)},
                  columns, lines);
  }
  if (stats.skipped > 0) lines.push_back(fmt::format("{} skipped", stats.skipped));
  if (std::string machine = to_text(stats.machine); !machine.empty()) {
    lines.push_back(std::move(machine));
  }
  append_table(stats, columns, lines);
  return lines;
}

}  // namespace lookout

#include "app/report/time_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/report/html.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

constexpr double kTopRoom = 18;         // for the text above the highest value
constexpr double kColumnsBottom = 172;  // pixels, as in style.h: 190 less the text below
constexpr double kStepsBottom = 66;     // 84 less the text below

double height_of(const TimeColumn& column) {
  return std::accumulate(column.parts.begin(), column.parts.end(), 0.0);
}

std::vector<TimeColumn> highest_of_neighbours(const std::vector<TimeColumn>& columns) {
  const std::size_t group = (columns.size() + kMaxColumns - 1) / kMaxColumns;
  if (group <= 1) return columns;
  std::vector<TimeColumn> highest;
  for (std::size_t first = 0; first < columns.size(); first += group) {
    const std::size_t last = std::min(first + group, columns.size());
    highest.push_back(*std::max_element(
        columns.begin() + static_cast<std::ptrdiff_t>(first),
        columns.begin() + static_cast<std::ptrdiff_t>(last),
        [](const auto& a, const auto& b) { return height_of(a) < height_of(b); }));
  }
  return highest;
}

void append_line(const char* kind, double y, std::string& out) {
  append_format(out, "<line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                kind, y, y);
}

// Two texts in a line, at the ends of the chart.
void append_texts(const std::string& left, const std::string& right, double y, std::string& out) {
  append_format(out,
                "<text class=\"soft\" x=\"0\" y=\"{0}\">{1}</text>\n"
                "<text class=\"soft\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{2}</text>\n",
                y, escaped(left), escaped(right));
}

void append_column(const TimeColumn& column, const Legend& parts, double x, double width,
                   double scale, std::string& out) {
  append_format(out, "<g><title>{}</title>\n", escaped(column.title));
  double y = kColumnsBottom;
  for (std::size_t i = 0; i < column.parts.size(); ++i) {
    const double height = column.parts[i] * scale;
    if (height < 0.05) continue;
    y -= height;
    append_format(out,
                  "<rect class=\"{}\" x=\"{:.3f}%\" y=\"{:.1f}\" width=\"{:.3f}%\" "
                  "height=\"{:.1f}\"/>\n",
                  class_of(parts.at(i).first), x, y, width, height);
  }
  out += "</g>\n";
}

struct Step {
  double start = 0;
  double end = 0;
  double least = 0;
  double highest = 0;
};

std::vector<Step> steps_of(const TimeSteps& given) {
  const std::size_t group = (given.values.size() + kMaxSteps - 1) / kMaxSteps;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    const auto& [time, value] = given.values[i];
    const bool last = i + 1 == given.values.size();
    const double end = last ? given.end : given.values[i + 1].first;
    if (i % group == 0) steps.push_back({time, end, value, value});
    Step& step = steps.back();
    step.end = std::max(step.start, end);
    step.least = std::min(step.least, value);
    step.highest = std::max(step.highest, value);
  }
  return steps;
}

// Values such as 199.2 to 199.8 MB would be a flat block above 0.
double floor_of(double least, double highest) {
  const bool hides = least > 0 && highest - least < 0.2 * highest && highest > least;
  return hides ? std::max(0.0, least - (highest - least)) : std::min(0.0, least);
}

void append_step(const Step& step, double width, double floor, double scale, std::string& out) {
  const double y = kStepsBottom - (step.highest - floor) * scale;
  const std::string range = step.least == step.highest
                                ? fmt::format("{:.5g}", step.least)
                                : fmt::format("{:.5g} to {:.5g}", step.least, step.highest);
  append_format(out,
                "<rect class=\"blue\" x=\"{:.3f}%\" y=\"{:.1f}\" width=\"{:.3f}%\" "
                "height=\"{:.1f}\"><title>{:.3f} s: {}</title></rect>\n",
                100 * step.start / width, y, 100 * (step.end - step.start) / width,
                std::max(1.0, kStepsBottom - y), step.start, range);
}

}  // namespace

std::string column_chart(const std::string& description, const std::vector<TimeColumn>& columns,
                         const Legend& parts, const Mark& line, const std::string& unit) {
  if (columns.empty()) return {};
  const std::vector<TimeColumn> shown = highest_of_neighbours(columns);
  double highest = line.value;
  for (const TimeColumn& column : shown) highest = std::max(highest, height_of(column));
  if (highest <= 0) highest = 1;
  const double scale = (kColumnsBottom - kTopRoom) / highest;
  std::string out = parts.size() > 1 ? legend(parts) : "";
  append_format(out, "<svg class=\"over-time\" role=\"img\" aria-label=\"{}\">\n",
                escaped(description));
  const double width = 100 / static_cast<double>(shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    append_column(shown[i], parts, width * static_cast<double>(i), 0.9 * width, scale, out);
  }
  append_line("axis", kTopRoom, out);
  append_line("axis", kColumnsBottom, out);
  append_line("ideal", kColumnsBottom - line.value * scale, out);
  append_texts(fmt::format("{:.1f} {}", highest, unit), line.name, kTopRoom - 5, out);
  append_texts(columns.front().title.substr(0, columns.front().title.find(':')),
               columns.back().title.substr(0, columns.back().title.find(':')), kColumnsBottom + 16,
               out);
  return out + "</svg>\n";
}

std::string step_chart(const std::string& description, const TimeSteps& steps) {
  if (steps.values.empty()) return {};
  const std::vector<Step> shown = steps_of(steps);
  double least = shown.front().least;
  double highest = shown.front().highest;
  for (const Step& step : shown) {
    least = std::min(least, step.least);
    highest = std::max(highest, step.highest);
  }
  const double floor = floor_of(least, highest);
  const double scale = (kStepsBottom - kTopRoom) / (highest > floor ? highest - floor : 1);
  const double width = steps.end > 0 ? steps.end : 1;
  std::string out = fmt::format("<svg class=\"over-time low\" role=\"img\" aria-label=\"{}\">\n",
                                escaped(description));
  for (const Step& step : shown) append_step(step, width, floor, scale, out);
  append_line("axis", kTopRoom, out);
  append_line("axis", kStepsBottom, out);
  append_texts(fmt::format("{:.5g} {}", highest, steps.unit),
               floor == 0 ? "" : fmt::format("from {:.5g} on", floor), kTopRoom - 5, out);
  append_texts("0 s", fmt::format("{:.2f} s", steps.end), kStepsBottom + 16, out);
  return out + "</svg>\n";
}

}  // namespace lookout

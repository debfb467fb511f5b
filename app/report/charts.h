// Charts of a report, as inline SVG. Each has a description for those who cannot see it, and
// figures beside it as text. Texts are escaped; see html.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/report/report.h"

namespace lookout {

// A horizontal bar with its name and figure above it.
struct Bar {
  std::string name;
  std::string figure;         // "29.8 fps"
  std::vector<double> parts;  // from left to right, >= 0, in the colors given to bar_chart()
  // How much the value varies: drawn as a line over the bar.
  std::optional<std::pair<double, double>> spread;
};

enum class Color { kBlue, kSky, kPale, kOrange, kNavy, kAmber, kGray };

// The name of the color in style.h.
const char* class_of(Color color);

// All bars begin at 0 and have one scale. `colors`: of the parts.
std::string bar_chart(const std::vector<Bar>& bars, const std::vector<Color>& colors);

// Names and colors of the parts of bars.
using Legend = std::vector<std::pair<Color, std::string>>;

// The same below a legend.
std::string bar_chart(const std::vector<Bar>& bars, const Legend& parts);

// Names and figures, for texts.
Facts figures_of(const std::vector<Bar>& bars);

std::string legend(const Legend& entries);

// A value that a histogram points out: "p95 27.1".
struct Mark {
  std::string name;
  double value = 0;
};

// A column of a histogram: how many values lie between `from` and `to`. The last one also has all
// above.
struct Bin {
  double from = 0;
  double to = 0;
  std::size_t count = 0;
};

// The columns of histogram(), from the least value on.
std::vector<Bin> histogram_bins(const std::vector<double>& values, const std::vector<Mark>& marks);

// How often values occur, by their size. `unit`: "ms". Values far beyond the last mark share the
// last column.
std::string histogram(const std::string& description, const std::vector<double>& values,
                      const std::vector<Mark>& marks, const std::string& unit);

}  // namespace lookout

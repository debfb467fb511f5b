#include "app/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/report/html.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

double sum_of(const Bar& bar) {
  double sum = 0;
  for (const double part : bar.parts) sum += part;
  return sum;
}

double scale_of(const std::vector<Bar>& bars) {
  double scale = 0;
  for (const Bar& bar : bars) {
    scale = std::max({scale, sum_of(bar), bar.spread ? bar.spread->second : 0});
  }
  return scale > 0 ? scale : 1;
}

void append_bar(const Bar& bar, const std::vector<Color>& colors, double scale, std::string& out) {
  append_format(out,
                "<li><span>{}</span> <b>{}</b>\n<svg aria-hidden=\"true\">"
                "<rect class=\"track\" y=\"3\" width=\"100%\" height=\"12\" rx=\"3\"/>",
                escaped(bar.name), escaped(bar.figure));
  double x = 0;
  for (std::size_t i = 0; i < bar.parts.size(); ++i) {
    const double width = 100 * bar.parts[i] / scale;
    append_format(out,
                  "<rect class=\"{}\" x=\"{:.2f}%\" y=\"3\" width=\"{:.2f}%\" height=\"12\" "
                  "rx=\"{}\"/>",
                  class_of(colors.at(i)), x, width, bar.parts.size() == 1 ? 3 : 0);
    x += width;
  }
  if (bar.spread) {
    const double low = 100 * bar.spread->first / scale;
    const double high = 100 * bar.spread->second / scale;
    append_format(out,
                  "<g class=\"whisker\"><line x1=\"{0:.2f}%\" x2=\"{1:.2f}%\" y1=\"9\" y2=\"9\"/>"
                  "<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"4\" y2=\"14\"/>"
                  "<line x1=\"{1:.2f}%\" x2=\"{1:.2f}%\" y1=\"4\" y2=\"14\"/></g>",
                  low, high);
  }
  out += "</svg></li>\n";
}

// The largest of 1, 2, 5, 10, 20, ... (and 0.5, 0.2, ...) up to `value`.
double nice(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

// The columns of a histogram, and where they are drawn.
class Columns {
 public:
  Columns(const std::vector<double>& values, const std::vector<Mark>& marks) {
    const double min = *std::min_element(values.begin(), values.end());
    const double max = *std::max_element(values.begin(), values.end());
    double end = max;
    for (const Mark& mark : marks) end = std::max(mark.value, std::min(end, 1.5 * mark.value));
    width_ = nice(std::max((end - min) / 12, std::max(end, 1e-3) / 200));
    start_ = std::floor(min / width_) * width_;
    counts_.assign(static_cast<std::size_t>((end - start_) / width_) + 1, 0);
    for (const double value : values) {
      const auto place = static_cast<std::size_t>(std::max(0.0, (value - start_) / width_));
      ++counts_[std::min(place, counts_.size() - 1)];
    }
    open_ = max > end;
  }

  const std::vector<std::size_t>& counts() const { return counts_; }
  std::size_t highest() const { return *std::max_element(counts_.begin(), counts_.end()); }
  double start(std::size_t column) const { return start_ + width_ * static_cast<double>(column); }
  double x(double value) const {
    return kLeft + kWidth * (value - start_) / (width_ * static_cast<double>(counts_.size()));
  }
  bool open() const { return open_; }  // the last column also has larger values

  static constexpr double kLeft = 34;
  static constexpr double kWidth = 320;
  static constexpr double kTop = 34;
  static constexpr double kHeight = 130;

 private:
  double start_ = 0;
  double width_ = 1;
  std::vector<std::size_t> counts_;
  bool open_ = false;
};

void append_columns(const Columns& columns, std::string& out) {
  const auto highest = static_cast<double>(columns.highest());
  for (std::size_t i = 0; i < columns.counts().size(); ++i) {
    const std::size_t count = columns.counts()[i];
    if (count == 0) continue;
    const double height = std::max(1.5, Columns::kHeight * static_cast<double>(count) / highest);
    const double x = columns.x(columns.start(i));
    append_format(out,
                  "<rect class=\"blue\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                  "height=\"{:.1f}\"><title>{:g} to {}{:g}: {}</title></rect>\n",
                  x + 0.5, Columns::kTop + Columns::kHeight - height,
                  columns.x(columns.start(i + 1)) - x - 1, height, columns.start(i),
                  columns.open() && i + 1 == columns.counts().size() ? "more than " : "",
                  columns.start(i + 1), count);
  }
}

void append_axes(const Columns& columns, const std::string& unit, std::string& out) {
  const double bottom = Columns::kTop + Columns::kHeight;
  append_format(out,
                "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>\n"
                "<text class=\"soft\" x=\"{3}\" y=\"{4}\" text-anchor=\"end\">{5}</text>\n",
                Columns::kLeft, Columns::kLeft + Columns::kWidth, bottom, Columns::kLeft - 6,
                Columns::kTop + 8, columns.highest());
  const std::size_t every = (columns.counts().size() + 5) / 6;
  for (std::size_t i = 0; i <= columns.counts().size(); i += every) {
    append_format(out,
                  "<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n",
                  columns.x(columns.start(i)), bottom + 16, columns.start(i));
  }
  append_format(out, "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}{}</text>\n",
                Columns::kLeft + Columns::kWidth, bottom + 34, escaped(unit),
                columns.open() ? "; the last column has all above" : "");
}

// Marks that are close to each other have their names on different lines.
void append_marks(const Columns& columns, const std::vector<Mark>& marks, std::string& out) {
  double last = -1000;
  bool up = false;
  for (const Mark& mark : marks) {
    const double x = columns.x(mark.value);
    up = x - last < 60 && !up;
    last = x;
    const double y = up ? 12 : 26;
    const char* anchor = x > Columns::kLeft + Columns::kWidth - 40 ? "end" : "middle";
    append_format(out,
                  "<line class=\"ideal\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
                  "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"{4}\">{5}</text>\n",
                  x, y + 4, Columns::kTop + Columns::kHeight, y, anchor, escaped(mark.name));
  }
}

}  // namespace

const char* class_of(Color color) {
  switch (color) {
    case Color::kBlue:
      return "blue";
    case Color::kSky:
      return "sky";
    case Color::kPale:
      return "pale";
    case Color::kOrange:
      return "orange";
    case Color::kNavy:
      return "navy";
    case Color::kAmber:
      return "amber";
    case Color::kGray:
      return "gray";
  }
  return "";
}

std::string bar_chart(const std::vector<Bar>& bars, const std::vector<Color>& colors) {
  std::string out = "<ul class=\"bars\">\n";
  const double scale = scale_of(bars);
  for (const Bar& bar : bars) append_bar(bar, colors, scale, out);
  return out + "</ul>\n";
}

std::string bar_chart(const std::vector<Bar>& bars, const Legend& parts) {
  std::vector<Color> colors;
  colors.reserve(parts.size());
  for (const auto& [color, name] : parts) colors.push_back(color);
  return legend(parts) + bar_chart(bars, colors);
}

Facts figures_of(const std::vector<Bar>& bars) {
  Facts figures;
  for (const Bar& bar : bars) figures.emplace_back(bar.name, bar.figure);
  return figures;
}

std::string legend(const Legend& entries) {
  std::string out = "<ul class=\"legend\">\n";
  for (const auto& [color, name] : entries) {
    append_format(out,
                  "<li><svg aria-hidden=\"true\" viewBox=\"0 0 12 12\"><rect class=\"{}\" "
                  "width=\"12\" height=\"12\" rx=\"2\"/></svg>{}</li>\n",
                  class_of(color), escaped(name));
  }
  return out + "</ul>\n";
}

std::vector<Bin> histogram_bins(const std::vector<double>& values, const std::vector<Mark>& marks) {
  if (values.empty()) return {};
  const Columns columns(values, marks);
  std::vector<Bin> bins;
  for (std::size_t i = 0; i < columns.counts().size(); ++i) {
    bins.push_back({columns.start(i), columns.start(i + 1), columns.counts()[i]});
  }
  return bins;
}

std::string histogram(const std::string& description, const std::vector<double>& values,
                      const std::vector<Mark>& marks, const std::string& unit) {
  if (values.empty()) return {};
  const Columns columns(values, marks);
  std::string out = fmt::format("<svg viewBox=\"0 0 360 202\" role=\"img\" aria-label=\"{}\">\n",
                                escaped(description));
  append_columns(columns, out);
  append_axes(columns, unit, out);
  append_marks(columns, marks, out);
  return out + "</svg>\n";
}

}  // namespace lookout

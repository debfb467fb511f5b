#include "app/dataset/eval_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "app/report/charts.h"
#include "app/report/html.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxClasses = 20;
constexpr std::size_t kMaxDots = 4000;

// The places in the matrix of the classes that are shown, sorted.
std::vector<std::size_t> shown_classes(const ConfusionMatrix& matrix, const EvalCounts& counts) {
  std::set<std::size_t> shown;
  const std::vector<ClassCounts> classes = counts.classes();
  if (!is_large(classes)) {
    for (const ClassCounts& entry : classes) shown.insert(matrix.place(entry.index));
  }
  for (const Confusion& confusion : counts.confusions()) {
    if (shown.size() + 2 > kMaxClasses) break;
    shown.insert(matrix.place(confusion.expected));
    shown.insert(matrix.place(confusion.predicted));
  }
  return {shown.begin(), shown.end()};
}

// `html`: the title.
void append_cell(std::uint64_t count, std::uint64_t all, bool right, const std::string& html,
                 std::string& out) {
  constexpr double kFaintest = 0.15;
  constexpr double kDark = 0.55;
  if (count == 0) {
    append_format(out, "<td class=\"zero{}\">0</td>", right ? " diagonal" : "");
    return;
  }
  const double strength =
      kFaintest + (1 - kFaintest) * static_cast<double>(count) / static_cast<double>(all);
  append_format(out, "<td class=\"{}{}\" style=\"--share:{:.2f}\" title=\"{}\">{}</td>",
                right ? "right" : "wrong", strength > kDark ? " dark" : "", strength, html, count);
}

// The diagram is a square of this side, at this place.
constexpr double kSide = 240;
constexpr double kLeft = 44;
constexpr double kTopMargin = 20;

double x_of(double score) { return kLeft + kSide * score; }
double y_of(double accuracy) { return kTopMargin + kSide * (1 - accuracy); }

void append_axes(std::string& out) {
  for (int i = 0; i <= 4; ++i) {
    const double share = i / 4.0;
    append_format(out,
                  "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>"
                  "<text class=\"soft\" x=\"{3}\" y=\"{4}\" text-anchor=\"end\">{5} %</text>"
                  "<text class=\"soft\" x=\"{6}\" y=\"{7}\" text-anchor=\"middle\">{5} %</text>\n",
                  kLeft, kLeft + kSide, y_of(share), kLeft - 6, y_of(share) + 4, 25 * i,
                  x_of(share), kTopMargin + kSide + 16);
  }
  append_format(out,
                "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">score of the best "
                "prediction</text>\n",
                kLeft + kSide / 2, kTopMargin + kSide + 34);
}

void append_bin(const CalibrationBin& bin, std::string& out) {
  const double x = x_of(bin.from) + 1.5;
  const double width = x_of(bin.to) - x_of(bin.from) - 3;
  append_format(
      out,
      "<g><title>scores of {0:.0f} to {1:.0f} %: {2} pictures, mean score {3:.1f} %, right "
      "{4:.1f} %</title>"
      "<rect class=\"blue\" x=\"{5:.1f}\" y=\"{6:.1f}\" width=\"{7:.1f}\" height=\"{8:.1f}\"/>"
      "<line class=\"gap\" x1=\"{5:.1f}\" x2=\"{9:.1f}\" y1=\"{10:.1f}\" y2=\"{10:.1f}\"/>"
      "<text x=\"{11:.1f}\" y=\"{12:.1f}\" text-anchor=\"middle\">{2}</text></g>\n",
      100 * bin.from, 100 * bin.to, bin.pictures, 100 * bin.mean_score, 100 * bin.accuracy, x,
      y_of(bin.accuracy), width, kSide * bin.accuracy, x + width, y_of(bin.mean_score),
      x + width / 2, y_of(std::max(bin.accuracy, bin.mean_score)) - 5);
}

}  // namespace

bool is_large(const std::vector<ClassCounts>& classes) { return classes.size() > kMaxClasses; }

std::string numbered_label(const std::vector<std::string>& labels, std::size_t index) {
  return fmt::format("{} {}", index, labels[index]);
}

Table classes_table(const EvalCounts& counts, const std::vector<std::string>& labels) {
  Table table{"Every class of the set",
              {"class", "pictures", "top-1", "top-5", "top-1 %", "precision %"},
              {}};
  for (const ClassCounts& entry : counts.classes()) {
    const auto precision = percent(entry.top1, entry.predicted);
    table.rows.push_back({numbered_label(labels, entry.index), std::to_string(entry.pictures),
                          std::to_string(entry.top1), std::to_string(entry.top5),
                          fmt::format("{:.1f}", *percent(entry.top1, entry.pictures)),
                          precision ? fmt::format("{:.1f}", *precision) : "never predicted"});
  }
  return table;
}

Table confusions_table(const EvalCounts& counts, const std::vector<std::string>& labels) {
  Table table{"", {"class", {"taken for", Shown::kText, Column::Align::kLeft}, "pictures"}, {}};
  for (const auto& [expected, predicted, count] : counts.confusions()) {
    table.rows.push_back({numbered_label(labels, expected), numbered_label(labels, predicted),
                          std::to_string(count)});
  }
  return table;
}

std::string matrix_chart(const EvalCounts& counts, const std::vector<std::string>& labels) {
  const ConfusionMatrix matrix = counts.matrix();
  const std::vector<std::size_t> shown = shown_classes(matrix, counts);
  const bool all_shown = shown.size() == matrix.classes.size();
  const auto name = [&](std::size_t place) {
    return escaped(numbered_label(labels, matrix.classes[place]));
  };
  std::string out =
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\">\n<caption>"
      "Rows: the right class. Columns: the predicted class. Cells: pictures.</caption>\n"
      "<thead><tr><td></td>";
  for (const std::size_t column : shown) {
    append_format(out, "<th scope=\"col\" title=\"{0}\"><span>{0}</span></th>", name(column));
  }
  if (!all_shown) out += "<th scope=\"col\"><span>all others</span></th>";
  out += "<th scope=\"col\"><span>right</span></th></tr></thead>\n<tbody>\n";
  for (const std::size_t row : shown) {
    const std::vector<std::uint64_t>& cells = matrix.counts[row];
    const std::uint64_t all = std::accumulate(cells.begin(), cells.end(), std::uint64_t{0});
    if (all == 0) continue;  // not in the set: only predicted
    append_format(out, "<tr><th scope=\"row\" title=\"{0}\">{0}</th>", name(row));
    const auto add_cell = [&](std::uint64_t count, bool right, const std::string& predicted) {
      append_cell(count, all, right,
                  fmt::format("{} taken for {}: {} of {}", name(row), predicted, count, all), out);
    };
    std::uint64_t others = all;
    for (const std::size_t column : shown) {
      others -= cells[column];
      add_cell(cells[column], row == column, name(column));
    }
    if (!all_shown) add_cell(others, false, "others");
    append_format(out, "<th scope=\"row\">{:.0f} %</th></tr>\n",
                  percent(cells[row], all).value_or(0));
  }
  return out + "</tbody></table></div>\n";
}

std::string confusion_map(const EvalCounts& counts) {
  const ConfusionMatrix matrix = counts.matrix();
  const std::vector<Confusion> confusions = counts.confusions();
  constexpr double kMap = 340;
  const std::size_t size = matrix.classes.size();
  const auto cell = kMap / static_cast<double>(size);
  const double dot = std::max(3.0, cell);
  std::string out = fmt::format(
      "<figure><svg class=\"square\" viewBox=\"0 0 360 360\" role=\"img\" aria-label=\"Map of all "
      "{0} classes: a "
      "dot for each pair that was confused\">\n<rect class=\"track\" x=\"10\" y=\"10\" "
      "width=\"{1}\" height=\"{1}\"/>"
      "<line class=\"ideal\" x1=\"10\" y1=\"10\" x2=\"{2}\" y2=\"{2}\"/>\n",
      size, kMap, 10 + kMap);
  const auto position = [&matrix, cell](std::size_t index) {
    return 10 + cell * static_cast<double>(matrix.place(index));
  };
  const double highest = confusions.empty() ? 1 : static_cast<double>(confusions.front().count);
  for (std::size_t i = 0; i < std::min(kMaxDots, confusions.size()); ++i) {
    const Confusion& confusion = confusions[i];
    const double strength = 0.6 + 0.4 * static_cast<double>(confusion.count) / highest;
    append_format(out,
                  "<rect class=\"orange\" opacity=\"{:.2f}\" x=\"{:.1f}\" y=\"{:.1f}\" "
                  "width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                  strength, position(confusion.predicted), position(confusion.expected), dot, dot);
  }
  out += "</svg>\n<figcaption>All ";
  return out + fmt::format(
                   "{} classes in the order of the labels, from the right one (down) to the "
                   "predicted one (across). Dots near the line are confusions of "
                   "neighbors in the list.</figcaption></figure>\n",
                   size);
}

Part reliability_part(const Calibration& calibration) {
  Part part{
      "Reliability of the scores",
      "80 % of the pictures with a score of 80 % should be right: then the bar ends at its orange "
      "line, the mean score. A bar that ends below it is overconfident. The number above a bar "
      "counts its pictures.",
      {}};
  if (!calibration.error) return part;
  std::string html =
      legend({{Color::kBlue, "right"}, {Color::kOrange, "mean score"}}) +
      "<svg class=\"square\" viewBox=\"0 0 300 302\" role=\"img\" aria-label=\"Reliability of the "
      "scores: the share "
      "of right predictions for each tenth of the scores; the figures are in the table below\">\n";
  append_axes(html);
  Table table{"Scores and accuracy", {"scores", "pictures", "mean score", "right"}, {}};
  table.folded = "Figures";
  for (const CalibrationBin& bin : calibration.bins) {
    const bool some = bin.pictures > 0;
    if (some) append_bin(bin, html);
    table.rows.push_back({fmt::format("{:.0f} to {:.0f} %", 100 * bin.from, 100 * bin.to),
                          std::to_string(bin.pictures),
                          some ? fmt::format("{:.1f} %", 100 * bin.mean_score) : "",
                          some ? fmt::format("{:.1f} %", 100 * bin.accuracy) : ""});
  }
  append_format(html, "<line class=\"ideal\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n</svg>\n",
                x_of(0), x_of(1), y_of(0), y_of(1));
  part.blocks = {{Chart{html}, Shown::kHtml}, {table, Shown::kHtml}};
  return part;
}

}  // namespace lookout

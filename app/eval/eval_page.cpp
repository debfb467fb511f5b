#include "app/eval/eval_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/dataset/eval_charts.h"
#include "app/report/charts.h"
#include "app/report/picture.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"

namespace lookout {
namespace {

constexpr std::size_t kWorstClasses = 12;
constexpr std::size_t kPicturesOfClass = 3;
constexpr std::size_t kMaxThumbnailBytes = 1'500'000;
constexpr std::size_t kConfusions = 12;

std::string share_text(std::uint64_t part, std::uint64_t all) {
  const auto share = percent(part, all);
  return share ? fmt::format("{:.2f} %", *share) : "none";
}

std::string interval_text(const ConfidenceInterval& interval) {
  return fmt::format("95 % interval {:.1f} to {:.1f} %", 100 * interval.low, 100 * interval.high);
}

std::string of(std::uint64_t part, std::uint64_t all) { return fmt::format("{} of {}", part, all); }

std::string numbered_label(const EvalReport& report, std::size_t index) {
  return fmt::format("{} {}", index, report.labels[index]);
}

std::string tiles(const EvalReport& report, const std::vector<ClassCounts>& classes) {
  const EvalCounts& counts = report.counts;
  const std::uint64_t all = counts.pictures().size();
  std::vector<Tile> tiles;
  if (const auto mean = mean_class_percent(classes)) {
    tiles.push_back(
        {"mean over classes", fmt::format("{:.2f} %", *mean),
         fmt::format("{} class{}, top-1, {}", classes.size(), classes.size() == 1 ? "" : "es",
                     interval_text(mean_class_interval(classes)))});
  }
  tiles.push_back(
      {"top-1 accuracy", share_text(counts.top1(), all),
       fmt::format("{}, {}", of(counts.top1(), all), interval_text(top1_interval(counts)))});
  tiles.push_back({"top-5 accuracy", share_text(counts.top5(), all), of(counts.top5(), all)});
  if (const auto error = counts.calibration().error) {
    tiles.push_back({"calibration error", fmt::format("{:.1f} %", 100 * *error),
                     "ECE: score against accuracy"});
  }
  tiles.push_back({"inference", fmt::format("{:.1f} ms", to_ms(report.stats.inference.p50)),
                   fmt::format("median; {:.1f} pictures a second", report.stats.classified_fps)});
  return to_html(tiles);
}

void add_warnings(const EvalReport& report, Page& page) {
  const std::uint64_t done = report.counts.pictures().size() + report.stats.skipped;
  if (report.missing > 0) {
    page.add_warning(
        fmt::format("Interrupted after {} of {} pictures.", done, done + report.missing));
  }
  if (report.stats.skipped > 0) {
    page.add_warning(fmt::format("{} of {} pictures could not be read and are not counted.",
                                 report.stats.skipped, done));
  }
}

void add_matrix(const EvalReport& report, bool large, Page& page) {
  std::string note =
      "Blue: right, orange: wrong; the stronger, the larger the share of the class's pictures.";
  if (large) note += " Only the classes that are confused most often are shown.";
  std::string html = legend({{Color::kBlue, "right"}, {Color::kOrange, "wrong"}});
  html += matrix_chart(report.counts, report.labels);
  page.add_part("Confusion matrix", note, html, Page::Width::kFull);
  if (large) {
    page.add_part("Where the confusions lie", "", confusion_map(report.counts));
  }
}

void add_confusions(const EvalReport& report, bool large, Page& page) {
  const std::vector<Confusion> confusions = report.counts.confusions();
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kConfusions, confusions.size()); ++i) {
    const Confusion& confusion = confusions[i];
    bars.push_back({numbered_label(report, confusion.expected) + " taken for " +
                        numbered_label(report, confusion.predicted),
                    std::to_string(confusion.count),
                    {static_cast<double>(confusion.count)},
                    std::nullopt});
  }
  if (bars.empty()) return;
  page.add_part("Most frequent confusions", "Pictures of one class that were taken for another.",
                bar_chart(bars, {Color::kOrange}), large ? Page::Width::kHalf : Page::Width::kFull);
}

// The wrong pictures of a class, the surest mistakes first.
std::vector<const EvaluatedPicture*> mistakes(const EvalCounts& counts, std::size_t index) {
  std::vector<const EvaluatedPicture*> found;
  for (const EvaluatedPicture& picture : counts.pictures()) {
    if (picture.expected == index && !picture.right() && !picture.predicted.empty()) {
      found.push_back(&picture);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return a->scores.front() > b->scores.front();
  });
  return found;
}

class WorstClasses {
 public:
  WorstClasses(const EvalReport& report, const EvalPageFacts& facts)
      : report_(report), facts_(facts) {}

  std::string to_html(const std::vector<ClassCounts>& worst) {
    std::string out = "<div class=\"classes\">\n";
    for (std::size_t i = 0; i < std::min(kWorstClasses, worst.size()); ++i) {
      append(worst[i], out);
    }
    return out + "</div>\n";
  }

 private:
  void append(const ClassCounts& of_class, std::string& out) {
    append_format(out,
                  "<div class=\"class\"><h3>{}</h3>\n<p class=\"note\">{:.0f} % right, {}</p>\n"
                  "<ul class=\"pictures\">\n",
                  escaped(numbered_label(report_, of_class.index)),
                  percent(of_class.top1, of_class.pictures).value_or(0),
                  of(of_class.top1, of_class.pictures));
    const auto wrong = mistakes(report_.counts, of_class.index);
    for (std::size_t i = 0; i < std::min(kPicturesOfClass, wrong.size()); ++i) {
      append(*wrong[i], out);
    }
    out += "</ul></div>\n";
  }

  void append(const EvaluatedPicture& picture, std::string& out) {
    const std::string uri = bytes_ < kMaxThumbnailBytes ? facts_.thumbnail(picture.file) : "";
    bytes_ += uri.size();
    out += picture_html({picture.file, uri, numbered_label(report_, picture.predicted.front()),
                         static_cast<double>(picture.scores.front())});
  }

  const EvalReport& report_;
  const EvalPageFacts& facts_;
  std::size_t bytes_ = 0;
};

void add_reliability(const EvalReport& report, Page& page) {
  const Calibration calibration = report.counts.calibration();
  if (!calibration.error) return;
  Table table{"Scores and accuracy", {"scores", "pictures", "mean score", "right"}, {}};
  for (const CalibrationBin& bin : calibration.bins) {
    const bool some = bin.pictures > 0;
    table.rows.push_back({fmt::format("{:.0f} to {:.0f} %", 100 * bin.from, 100 * bin.to),
                          std::to_string(bin.pictures),
                          some ? fmt::format("{:.1f} %", 100 * bin.mean_score) : "",
                          some ? fmt::format("{:.1f} %", 100 * bin.accuracy) : ""});
  }
  page.add_part(
      "Reliability of the scores",
      "80 % of the pictures with a score of 80 % should be right: then the bar ends at its orange "
      "line, the mean score. A bar that ends below it is overconfident. The number above a bar "
      "counts its pictures.",
      legend({{Color::kBlue, "right"}, {Color::kOrange, "mean score"}}) +
          reliability_chart(calibration) + details("Figures", to_html(table)));
}

void add_latency(const EvalReport& report, Page& page) {
  const StatsSnapshot& stats = report.stats;
  std::vector<double> inference;
  for (const EvaluatedPicture& picture : report.counts.pictures()) {
    inference.push_back(to_ms(picture.inference));
  }
  const std::vector<Mark> marks{{"p50", to_ms(stats.inference.p50)},
                                {"p95", to_ms(stats.inference.p95)},
                                {"p99", to_ms(stats.inference.p99)}};
  const Table table{"Milliseconds of each stage",
                    {"stage", "p50", "p95", "p99", "max"},
                    {row_of("decode", stats.capture), row_of("preprocess", stats.preprocess),
                     row_of("inference", stats.inference), row_of("total", stats.total)}};
  page.add_part("Latency", "Pictures by the time of inference.",
                histogram("Histogram of the time of inference; percentiles are in the table below",
                          inference, marks, "ms of inference") +
                    to_html(table));
}

void add_classes(const EvalReport& report, const std::vector<ClassCounts>& classes, Page& page) {
  Table table{"Every class of the set",
              {"class", "pictures", "top-1", "top-5", "top-1 %", "precision %"},
              {}};
  for (const ClassCounts& of_class : classes) {
    const auto precision = percent(of_class.top1, of_class.predicted);
    table.rows.push_back({numbered_label(report, of_class.index), std::to_string(of_class.pictures),
                          std::to_string(of_class.top1), std::to_string(of_class.top5),
                          fmt::format("{:.1f}", *percent(of_class.top1, of_class.pictures)),
                          precision ? fmt::format("{:.1f}", *precision) : "never predicted"});
  }
  page.add_part("All classes",
                "Precision: of the pictures that were taken for a class, the share that is of it.",
                details(fmt::format("{} class{}", classes.size(), classes.size() == 1 ? "" : "es"),
                        to_html(table)),
                Page::Width::kFull);
}

}  // namespace

std::string to_html(const EvalReport& report, const EvalPageFacts& facts) {
  Page page("lookout eval", report.model, report.source);
  const std::vector<ClassCounts> classes = report.counts.classes();
  page.add_top(tiles(report, classes));
  add_warnings(report, page);
  const bool large = is_large(classes);
  add_matrix(report, large, page);
  add_confusions(report, large, page);
  const std::vector<ClassCounts> worst = worst_classes(classes);
  if (!worst.empty()) {
    page.add_part("Worst classes", "With their surest mistakes: what each picture was taken for.",
                  WorstClasses(report, facts).to_html(worst), Page::Width::kFull);
  }
  add_reliability(report, page);
  add_latency(report, page);
  page.add_part("Model", "", to_html(facts.model));
  page.add_part("Machine", "", to_html(facts.machine));
  add_classes(report, classes, page);
  return page.to_html(facts.made_by);
}

}  // namespace lookout

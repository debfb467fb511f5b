#include "app/eval/eval_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/dataset/eval_charts.h"
#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kWorstClasses = 12;
constexpr std::size_t kPicturesOfClass = 3;
constexpr std::size_t kMaxThumbnailBytes = 1'500'000;
constexpr std::size_t kConfusions = 12;

std::string plural_of_class(std::size_t count) {
  return fmt::format("{} class{}", count, count == 1 ? "" : "es");
}

Tile share_tile(const char* name, std::uint64_t part, std::uint64_t all, const std::string& more) {
  const auto share = percent(part, all);
  return {name, share ? fmt::format("{:.2f} %", *share) : "none",
          fmt::format("{} of {}{}", part, all, more)};
}

std::vector<Tile> tiles(const EvalResult& result, const std::vector<ClassCounts>& classes) {
  const EvalCounts& counts = result.counts;
  const std::uint64_t all = counts.pictures().size();
  std::vector<Tile> tiles;
  if (const auto mean = mean_class_percent(classes)) {
    tiles.push_back({"mean over classes", fmt::format("{:.2f} %", *mean),
                     fmt::format("{}, top-1, {}", plural_of_class(classes.size()),
                                 interval_text(mean_class_interval(classes)))});
  }
  tiles.push_back(share_tile("top-1 accuracy", counts.top1(), all,
                             ", " + interval_text(top1_interval(counts))));
  tiles.push_back(share_tile("top-5 accuracy", counts.top5(), all, ""));
  if (const auto refused = result.refused()) {
    tiles.push_back(share_tile("unknown", *refused, all, ", which are wrong"));
  }
  if (const auto error = counts.calibration().error) {
    tiles.push_back({"calibration error", fmt::format("{:.1f} %", 100 * *error),
                     "ECE: score against accuracy"});
  }
  tiles.push_back({"inference", fmt::format("{:.1f} ms", to_ms(result.stats.inference.p50)),
                   fmt::format("median; {:.1f} pictures a second", result.stats.classified_fps)});
  return tiles;
}

std::vector<std::string> warnings(const EvalResult& result) {
  const std::uint64_t done = result.counts.pictures().size() + result.stats.skipped;
  std::vector<std::string> warnings;
  if (result.missing > 0) {
    warnings.push_back(
        fmt::format("Interrupted after {} of {} pictures.", done, done + result.missing));
  }
  if (result.stats.skipped > 0) {
    warnings.push_back(fmt::format("{} of {} pictures could not be read and are not counted.",
                                   result.stats.skipped, done));
  }
  return warnings;
}

Part confusions_part(const EvalResult& result, bool large) {
  Part part{"Most frequent confusions",
            "Pictures of one class that were taken for another.",
            {},
            large ? Width::kHalf : Width::kFull};
  Table table = confusions_table(result.counts, result.labels);
  if (table.rows.empty()) return part;
  table.shown = kConfusions;
  std::vector<Bar> bars;
  for (const Row& row : table.rows) {
    if (bars.size() == kConfusions) break;
    bars.push_back({row[0] + " taken for " + row[1], row[2], {std::stod(row[2])}, std::nullopt});
  }
  part.blocks = {{Chart{bar_chart(bars, std::vector{Color::kOrange})}, Shown::kHtml},
                 {table, Shown::kText}};
  return part;
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

Part worst_classes_part(const EvalResult& result, const std::vector<ClassCounts>& classes) {
  Part part{"Worst classes",
            "With their surest mistakes: what each picture was taken for.",
            {},
            Width::kFull};
  Table table{"", {"class", "right %", "right", "pictures"}, {}};
  std::string html = "<div class=\"classes\">\n";
  std::size_t bytes = 0;
  for (const ClassCounts& counts : worst_classes(classes)) {
    if (table.rows.size() == kWorstClasses) break;
    const std::string label = numbered_label(result.labels, counts.index);
    const double share = percent(counts.top1, counts.pictures).value_or(0);
    table.rows.push_back({label, fmt::format("{:.1f}", share), std::to_string(counts.top1),
                          std::to_string(counts.pictures)});
    append_format(html,
                  "<div class=\"class\"><h3>{}</h3>\n<p class=\"note\">{:.0f} % right, {} of {}</p>"
                  "\n<ul class=\"pictures\">\n",
                  escaped(label), share, counts.top1, counts.pictures);
    const auto wrong = mistakes(result.counts, counts.index);
    for (std::size_t i = 0; i < std::min(kPicturesOfClass, wrong.size()); ++i) {
      const EvaluatedPicture& picture = *wrong[i];
      const bool room = result.thumbnail && bytes < kMaxThumbnailBytes;
      const std::string uri = room ? result.thumbnail(picture.file) : "";
      bytes += uri.size();
      html +=
          picture_html({picture.file, uri, numbered_label(result.labels, picture.predicted.front()),
                        static_cast<double>(picture.scores.front())});
    }
    html += "</ul></div>\n";
  }
  if (table.rows.empty()) return part;
  part.blocks = {{Chart{html + "</div>\n"}, Shown::kHtml}, {table, Shown::kText}};
  return part;
}

Part latency_part(const EvalResult& result) {
  const StatsSnapshot& stats = result.stats;
  std::vector<double> inference;
  for (const EvaluatedPicture& picture : result.counts.pictures()) {
    inference.push_back(to_ms(picture.inference));
  }
  const std::vector<Mark> marks{{"p50", to_ms(stats.inference.p50)},
                                {"p95", to_ms(stats.inference.p95)},
                                {"p99", to_ms(stats.inference.p99)}};
  const std::string chart =
      histogram("Histogram of the time of inference; percentiles are in the table below", inference,
                marks, "ms of inference");
  const Table table{"Milliseconds of each stage",
                    {"stage", "p50", "p95", "p99", "max"},
                    {row_of("decode", stats.capture), row_of("preprocess", stats.preprocess),
                     row_of("inference", stats.inference), row_of("total", stats.total)}};
  return {"Latency", "Pictures by the time of inference.", {Chart{chart}, table}};
}

Part classes_part(const EvalResult& result) {
  Table table = classes_table(result.counts, result.labels);
  table.folded = plural_of_class(table.rows.size());
  return {"All classes",
          "Precision: of the pictures that were taken for a class, the share that is of it.",
          {{table, Shown::kHtml}},
          Width::kFull};
}

// ---- JSON

Json classes_json(const EvalResult& result, const std::vector<ClassCounts>& classes) {
  Json json = Json::array();
  for (const ClassCounts& counts : classes) {
    json.push_back({{"index", counts.index},
                    {"label", result.labels[counts.index]},
                    {"pictures", counts.pictures},
                    {"top1", counts.top1},
                    {"top5", counts.top5},
                    {"predicted", counts.predicted},
                    {"top1_percent", or_null(percent(counts.top1, counts.pictures))},
                    {"top5_percent", or_null(percent(counts.top5, counts.pictures))},
                    {"precision_percent", or_null(percent(counts.top1, counts.predicted))}});
  }
  return json;
}

Json to_json(const Calibration& calibration) {
  Json bins = Json::array();
  for (const CalibrationBin& bin : calibration.bins) {
    const bool some = bin.pictures > 0;
    bins.push_back({{"from", bin.from},
                    {"to", bin.to},
                    {"pictures", bin.pictures},
                    {"mean_score", some ? Json(rounded(bin.mean_score, 4)) : Json()},
                    {"accuracy", some ? Json(rounded(bin.accuracy, 4)) : Json()}});
  }
  const auto& error = calibration.error;
  return {{"ece", error ? Json(rounded(*error, 4)) : Json()}, {"bins", std::move(bins)}};
}

Json confusions_json(const EvalResult& result) {
  Json confusions = Json::array();
  for (const Confusion& confusion : result.counts.confusions()) {
    confusions.push_back({{"expected", confusion.expected},
                          {"expected_label", result.labels[confusion.expected]},
                          {"predicted", confusion.predicted},
                          {"predicted_label", result.labels[confusion.predicted]},
                          {"count", confusion.count}});
  }
  return confusions;
}

Json matrix_json(const EvalResult& result) {
  const ConfusionMatrix matrix = result.counts.matrix();
  Json labels = Json::array();
  for (const std::size_t index : matrix.classes) labels.push_back(result.labels[index]);
  return {{"classes", matrix.classes}, {"labels", std::move(labels)}, {"counts", matrix.counts}};
}

Json pictures_json(const EvalCounts& counts) {
  Json pictures = Json::array();
  for (const EvaluatedPicture& picture : counts.pictures()) {
    Json scores = Json::array();
    for (const float score : picture.scores) {
      scores.push_back(rounded(static_cast<double>(score), 4));
    }
    pictures.push_back({{"file", picture.file},
                        {"expected", picture.expected},
                        {"predicted", picture.predicted},
                        {"scores", std::move(scores)}});
  }
  return pictures;
}

Json to_json(const EvalResult& result) {
  const EvalCounts& counts = result.counts;
  const std::uint64_t all = counts.pictures().size();
  const StatsSnapshot& stats = result.stats;
  const std::vector<ClassCounts> classes = counts.classes();
  return {{"schema", 1},
          {"type", "eval"},
          {"model", result.model},
          {"file", result.file},
          {"sha256", result.sha256},
          {"source", result.source},
          {"complete", result.missing == 0},
          {"pictures", all},
          {"skipped", stats.skipped},
          {"top1", counts.top1()},
          {"top5", counts.top5()},
          {"refused", or_null(result.refused())},
          {"top1_percent", or_null(percent(counts.top1(), all))},
          {"top1_interval_percent", interval_json(top1_interval(counts))},
          {"top5_percent", or_null(percent(counts.top5(), all))},
          {"mean_class_percent", or_null(mean_class_percent(classes))},
          {"mean_class_interval_percent", interval_json(mean_class_interval(classes))},
          {"fps", stats.classified_fps},
          {"latency_ms",
           {{"capture", to_json(stats.capture)},
            {"preprocess", to_json(stats.preprocess)},
            {"inference", to_json(stats.inference)},
            {"total", to_json(stats.total)}}},
          {"classes", classes_json(result, classes)},
          {"calibration", to_json(counts.calibration())},
          {"confusions", confusions_json(result)},
          {"confusion_matrix", matrix_json(result)},
          {"results", pictures_json(counts)}};
}

}  // namespace

std::optional<std::uint64_t> EvalResult::refused() const {
  if (!unknown) return std::nullopt;
  std::uint64_t count = 0;
  for (const EvaluatedPicture& picture : counts.pictures()) {
    const bool taken_for_unknown =
        !picture.predicted.empty() && picture.predicted.front() == *unknown;
    if (taken_for_unknown && picture.expected != *unknown) ++count;
  }
  return count;
}

Report make_report(const EvalResult& result) {
  const std::vector<ClassCounts> classes = result.counts.classes();
  const bool large = is_large(classes);
  std::string matrix_note =
      "Blue: right, orange: wrong; the stronger, the larger the share of the class's pictures.";
  if (large) matrix_note += " Only the classes that are confused most often are shown.";
  Report report;
  report.kind = "lookout eval";
  report.title = result.model;
  report.note = result.source;
  report.head = {fmt::format("{} ({}) on {}", result.model, result.file, result.source)};
  report.tiles = tiles(result, classes);
  report.warnings = warnings(result);
  report.parts.push_back({"Confusion matrix",
                          matrix_note,
                          {Chart{legend({{Color::kBlue, "right"}, {Color::kOrange, "wrong"}}) +
                                 matrix_chart(result.counts, result.labels)}},
                          Width::kFull});
  if (large) {
    report.parts.push_back({"Where the confusions lie", "", {Chart{confusion_map(result.counts)}}});
  }
  report.parts.push_back(confusions_part(result, large));
  report.parts.push_back(worst_classes_part(result, classes));
  report.parts.push_back(reliability_part(result.counts.calibration()));
  report.parts.push_back(latency_part(result));
  report.parts.push_back({"Model", "", {{result.model_facts, Shown::kHtml}}});
  report.parts.push_back({"Machine", "", {{result.machine_facts, Shown::kHtml}}});
  report.parts.push_back(classes_part(result));
  report.json = [&result] { return to_json(result); };
  return report;
}

}  // namespace lookout

#include "app/eval/eval_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "platform/reporters/terminal.h"

namespace lookout {
namespace {

constexpr std::size_t kConfusionsInText = 10;
constexpr std::size_t kClassesInText = 10;
constexpr std::size_t kMinLabel = 8;  // columns of a label, however narrow the terminal

std::string numbered(const EvalReport& report, std::size_t index) {
  return fmt::format("{} {}", index, printable(report.labels[index]));
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (cut(text, columns).size() == text.size()) return text;
  return std::string(cut(text, columns - 1)) + "…";
}

void append_classes(const EvalReport& report, std::size_t columns, std::string& out) {
  const std::vector<ClassCounts> worst = worst_classes(report.counts.classes());
  if (worst.empty()) return;
  out += "worst classes (top-1):\n";
  for (std::size_t i = 0; i < std::min(kClassesInText, worst.size()); ++i) {
    const ClassCounts& of_class = worst[i];
    const std::string line = fmt::format(
        "{:>5.1f} %  {} of {}  {}", percent(of_class.top1, of_class.pictures).value_or(0),
        of_class.top1, of_class.pictures, numbered(report, of_class.index));
    out += (columns > 0 ? shortened(line, columns) : line) + "\n";
  }
}

void append_confusions(const EvalReport& report, std::size_t columns, std::string& out) {
  constexpr std::string_view kBetween = " taken for ";
  const auto confusions = report.counts.confusions();
  if (confusions.empty()) return;
  out += "most frequent confusions:\n";
  for (std::size_t i = 0; i < std::min(kConfusionsInText, confusions.size()); ++i) {
    const Confusion& confusion = confusions[i];
    const std::string count = fmt::format("{:>6}  ", confusion.count);
    std::string expected = numbered(report, confusion.expected);
    std::string predicted = numbered(report, confusion.predicted);
    const std::size_t fixed = count.size() + kBetween.size();
    if (columns > 0) {
      const std::size_t left = columns - std::min(columns, fixed);
      expected = shortened(expected, std::max(kMinLabel, left / 2));
      predicted = shortened(predicted, std::max(kMinLabel, left / 2));
    }
    append_format(out, "{}{}{}{}\n", count, expected, kBetween, predicted);
  }
}

void append_accuracy(const EvalReport& report, std::string& out) {
  const std::uint64_t all = report.counts.pictures().size();
  const std::vector<ClassCounts> classes = report.counts.classes();
  if (const auto mean = mean_class_percent(classes); mean && classes.size() > 1) {
    append_format(out, "classes {}, mean top-1 {}\n", classes.size(),
                  percent_text(*mean, mean_class_interval(classes)));
  }
  append_format(out, "top-1   {}\n", share_of(report.counts.top1(), all));
  append_format(out, "top-5   {}\n", share_of(report.counts.top5(), all));
  if (const auto refused = report.refused()) {
    append_format(out, "unknown {}, which are wrong\n", share_of(*refused, all));
  }
  if (const auto error = report.counts.calibration().error) {
    append_format(out, "scores  differ from the accuracy by {:.1f} points (ECE)\n", *error * 100);
  }
  if (report.stats.skipped > 0) {
    append_format(out, "skipped {}, which could not be read\n", report.stats.skipped);
  }
}

// ---- JSON

Json to_json(const ClassCounts& of_class, const EvalReport& report) {
  return {{"index", of_class.index},
          {"label", report.labels[of_class.index]},
          {"pictures", of_class.pictures},
          {"top1", of_class.top1},
          {"top5", of_class.top5},
          {"predicted", of_class.predicted},
          {"top1_percent", or_null(percent(of_class.top1, of_class.pictures))},
          {"top5_percent", or_null(percent(of_class.top5, of_class.pictures))},
          {"precision_percent", or_null(percent(of_class.top1, of_class.predicted))}};
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

Json to_json(const ConfusionMatrix& matrix, const EvalReport& report) {
  Json labels = Json::array();
  for (const std::size_t index : matrix.classes) labels.push_back(report.labels[index]);
  return {{"classes", matrix.classes}, {"labels", std::move(labels)}, {"counts", matrix.counts}};
}

Json confusions_json(const EvalReport& report) {
  Json confusions = Json::array();
  for (const Confusion& confusion : report.counts.confusions()) {
    confusions.push_back({{"expected", confusion.expected},
                          {"expected_label", report.labels[confusion.expected]},
                          {"predicted", confusion.predicted},
                          {"predicted_label", report.labels[confusion.predicted]},
                          {"count", confusion.count}});
  }
  return confusions;
}

Json classes_json(const EvalReport& report, const std::vector<ClassCounts>& classes) {
  Json json = Json::array();
  for (const ClassCounts& of_class : classes) json.push_back(to_json(of_class, report));
  return json;
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

}  // namespace

std::optional<std::uint64_t> EvalReport::refused() const {
  if (!unknown) return std::nullopt;
  std::uint64_t count = 0;
  for (const EvaluatedPicture& picture : counts.pictures()) {
    const bool taken_for_unknown =
        !picture.predicted.empty() && picture.predicted.front() == *unknown;
    if (taken_for_unknown && picture.expected != *unknown) ++count;
  }
  return count;
}

std::string share_of(std::uint64_t part, std::uint64_t all) {
  const auto share = percent(part, all);
  return fmt::format("{} of {}{}", part, all, share ? fmt::format(", {:.2f} %", *share) : "");
}

std::string percent_text(double percent, const ConfidenceInterval& interval) {
  return fmt::format("{:.1f} % (95 % interval {:.1f} to {:.1f} %)", percent, 100 * interval.low,
                     100 * interval.high);
}

std::string to_text(const EvalReport& report, std::size_t columns) {
  const std::uint64_t all = report.counts.pictures().size();
  std::string text = fmt::format("{} ({}) on {}\n", printable(report.model), printable(report.file),
                                 printable(report.source));
  if (report.missing > 0) {
    const std::uint64_t done = all + report.stats.skipped;
    append_format(text, "interrupted after {} of {} pictures\n", done, done + report.missing);
  }
  append_accuracy(report, text);
  append_classes(report, columns, text);
  append_confusions(report, columns, text);
  const StatsSnapshot& stats = report.stats;
  append_format(text,
                "{:.1f} pictures a second; ms p50/p95/p99/max:\n"
                "  decode {}  preprocess {}\n"
                "  inference {}  total {}\n",
                stats.classified_fps, to_text(stats.capture), to_text(stats.preprocess),
                to_text(stats.inference), to_text(stats.total));
  return text;
}

std::string to_json(const EvalReport& report) {
  const EvalCounts& counts = report.counts;
  const std::uint64_t all = counts.pictures().size();
  const StatsSnapshot& stats = report.stats;
  const std::vector<ClassCounts> classes = counts.classes();
  const Json json{{"schema", 1},
                  {"type", "eval"},
                  {"model", report.model},
                  {"file", report.file},
                  {"sha256", report.sha256},
                  {"source", report.source},
                  {"complete", report.missing == 0},
                  {"pictures", all},
                  {"skipped", stats.skipped},
                  {"top1", counts.top1()},
                  {"top5", counts.top5()},
                  {"refused", or_null(report.refused())},
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
                  {"classes", classes_json(report, classes)},
                  {"calibration", to_json(counts.calibration())},
                  {"confusions", confusions_json(report)},
                  {"confusion_matrix", to_json(counts.matrix(), report)},
                  {"results", pictures_json(counts)}};
  return to_text(json) + "\n";
}

}  // namespace lookout

#include "app/train/train_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/eval/eval_result.h"
#include "app/report/json.h"
#include "app/train/advice.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/model/top_k.h"
#include "pipeline/training/calibration.h"

namespace lookout {
namespace {

constexpr std::size_t kDoubtfulInText = 10;
constexpr std::size_t kDoubtfulInJson = 50;

bool is_right(const TrainReport& report, std::size_t i) {
  return report.validation.pictures[i].predicted == report.pictures[i].label;
}

constexpr double kEnoughAbove = 30;  // different pictures above a threshold

// The lowest threshold above which nearly all pictures are right, of those for which `counts` is
// true.
template <typename Counts>
std::optional<SuggestedThreshold> suggest_threshold(const TrainReport& report,
                                                    const Counts& counts) {
  constexpr double kNearlyAll = 0.99;
  for (int percent = 50; percent <= 95; percent += 5) {
    SuggestedThreshold suggested;
    suggested.threshold = percent / 100.0;
    std::size_t all = 0;
    std::size_t right = 0;
    double weight = 0;
    for (std::size_t i = 0; i < report.pictures.size(); ++i) {
      const ValidatedPicture& picture = report.validation.pictures[i];
      if (!counts(picture.predicted)) continue;
      ++all;
      const bool refused = picture.predicted == report.unknown();
      if (refused || static_cast<double>(picture.score()) < suggested.threshold) continue;
      ++suggested.above;
      weight += report.counts.pictures()[i].weight;
      if (is_right(report, i)) ++right;
    }
    if (weight < kEnoughAbove) break;
    suggested.right = static_cast<double>(right) / static_cast<double>(suggested.above);
    suggested.interval = share_interval(suggested.right, weight);
    suggested.below = 1 - static_cast<double>(suggested.above) / static_cast<double>(all);
    if (suggested.right >= kNearlyAll) return suggested;
  }
  return std::nullopt;
}

std::vector<std::optional<SuggestedThreshold>> suggest_class_thresholds(const TrainReport& report) {
  std::vector<std::optional<SuggestedThreshold>> thresholds;
  std::set<double> values;
  for (std::size_t index = 0; index < report.unknown(); ++index) {
    thresholds.push_back(
        suggest_threshold(report, [index](std::size_t predicted) { return predicted == index; }));
    if (thresholds.back()) values.insert(thresholds.back()->threshold);
  }
  if (values.size() < 2) thresholds.clear();
  return thresholds;
}

std::string label_of(const TrainReport& report, std::size_t index) {
  return printable(report.labels[index]);
}

// `which`: ends the sentence on the pictures.
void append_headline(const EvalCounts& counts, const char* name, const std::string& which,
                     std::string& out) {
  append_format(out, "{:<8}{}, mean over the classes\n        {} of pictures {}\n", name,
                accuracy_text(counts), share_of(counts.top1(), counts.pictures().size()), which);
}

void append_classes(const TrainReport& report, std::string& out) {
  std::size_t width = 0;
  const std::vector<ClassCounts> classes = report.counts.classes();
  for (const ClassCounts& of_class : classes) {
    width = std::max(width, label_of(report, of_class.index).size());
  }
  for (const ClassCounts& of_class : classes) {
    append_format(out, "  {:<{}}  {}\n", label_of(report, of_class.index), width,
                  share_of(of_class.top1, of_class.pictures));
  }
  for (const Confusion& confusion : report.counts.confusions()) {
    append_format(out, "  {} of {} taken for {}\n", confusion.count,
                  label_of(report, confusion.expected), label_of(report, confusion.predicted));
  }
}

void append_doubtful(const TrainReport& report, std::string& out) {
  const std::vector<std::size_t> doubtful = doubtful_pictures(report);
  std::string text;
  std::size_t count = 0;
  for (const std::size_t i : doubtful) {
    if (is_right(report, i) || count == kDoubtfulInText) break;
    const ValidatedPicture& picture = report.validation.pictures[i];
    append_format(text, "  {:>3.0f} %  {}  {}\n", 100 * static_cast<double>(picture.score()),
                  label_of(report, picture.predicted), printable(report.pictures[i].file));
    ++count;
  }
  if (count > 0)
    out += "wrong pictures, what each was taken for (are they labelled right?):\n" + text;
}

void append_curve(const TrainReport& report, std::string& out) {
  out += "accuracy by the number of pictures of each class:";
  for (const LearningPoint& point : report.validation.curve) {
    append_format(out, " {}: {:.1f} %", point.pictures, 100 * point.accuracy);
  }
  out += "\n";
}

// ---- JSON

std::optional<double> ece_of(const EvalCounts& counts) {
  const auto error = counts.calibration().error;
  return error ? std::optional(rounded(*error, 4)) : std::nullopt;
}

Json accuracy_json(const EvalCounts& counts) {
  const std::size_t all = counts.pictures().size();
  const std::vector<ClassCounts> classes = counts.classes();
  return {{"mean_class_percent", or_null(mean_class_percent(classes))},
          {"mean_class_interval_percent", interval_json(mean_class_interval(classes))},
          {"right", counts.top1()},
          {"pictures", all},
          {"percent", or_null(percent(counts.top1(), all))},
          {"interval_percent", interval_json(top1_interval(counts))}};
}

Json classes_json(const TrainReport& report, const EvalCounts& counts) {
  Json json = Json::array();
  for (const ClassCounts& of_class : counts.classes()) {
    json.push_back({{"index", of_class.index},
                    {"label", report.labels[of_class.index]},
                    {"pictures", of_class.pictures},
                    {"right", of_class.top1},
                    {"predicted", of_class.predicted}});
  }
  return json;
}

Json confusions_json(const TrainReport& report, const EvalCounts& counts) {
  Json json = Json::array();
  for (const Confusion& confusion : counts.confusions()) {
    json.push_back({{"expected", report.labels[confusion.expected]},
                    {"predicted", report.labels[confusion.predicted]},
                    {"count", confusion.count}});
  }
  return json;
}

Json val_json(const TrainReport& report) {
  if (!report.val) return {};
  const HeldOut& val = *report.val;
  return {{"source", val.folder},
          {"skipped", val.skipped},
          {"duplicates", val.duplicates},
          {"accuracy", accuracy_json(val.counts)},
          {"ece", or_null(ece_of(val.counts))},
          {"classes", classes_json(report, val.counts)},
          {"confusions", confusions_json(report, val.counts)}};
}

Json doubtful_json(const TrainReport& report) {
  Json json = Json::array();
  for (const std::size_t i : doubtful_pictures(report)) {
    if (json.size() == kDoubtfulInJson) break;
    const ValidatedPicture& picture = report.validation.pictures[i];
    json.push_back({{"file", report.pictures[i].file},
                    {"expected", report.labels[report.pictures[i].label]},
                    {"predicted", report.labels[picture.predicted]},
                    {"score", rounded(static_cast<double>(picture.score()), 4)}});
  }
  return json;
}

Json curve_json(const TrainReport& report) {
  Json json = Json::array();
  for (const LearningPoint& point : report.validation.curve) {
    json.push_back({{"pictures", point.pictures}, {"percent", rounded(100 * point.accuracy, 2)}});
  }
  return json;
}

Json threshold_json(const std::optional<SuggestedThreshold>& threshold) {
  if (!threshold) return {};
  return {{"enter_threshold", threshold->threshold},
          {"pictures_above", threshold->above},
          {"right_percent", rounded(100 * threshold->right, 2)},
          {"right_interval_percent", interval_json(threshold->interval)},
          {"below_percent", rounded(100 * threshold->below, 2)}};
}

Json class_thresholds_json(const TrainReport& report) {
  Json json = Json::object();
  for (std::size_t i = 0; i < report.class_thresholds.size(); ++i) {
    json[report.labels[i]] = threshold_json(report.class_thresholds[i]);
  }
  return json;
}

}  // namespace

std::size_t TrainReport::refused() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (pictures[i].label != unknown() && validation.pictures[i].predicted == unknown()) ++count;
  }
  return count;
}

std::size_t TrainReport::near_copies() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) count += scenes.is_near_copy(i) ? 1 : 0;
  return count;
}

std::size_t TrainReport::copied_scenes() const {
  std::size_t count = 0;
  for (std::size_t scene = 0; scene < scenes.sizes.size(); ++scene) {
    if (scenes.sizes[scene] > 1 && !scenes.fixed[scene]) ++count;
  }
  return count;
}

std::vector<std::string> TrainReport::classes_of_one_scene() const {
  std::vector<std::string> found;
  for (std::size_t index = 0; index < unknown(); ++index) {
    std::size_t all = 0;
    std::size_t fixed = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (pictures[i].label != index) continue;
      ++all;
      if (scenes.is_fixed(i)) ++fixed;
    }
    if (2 * fixed > all) found.push_back(labels[index]);
  }
  return found;
}

void record(const std::string& file, std::size_t expected, const std::vector<float>& scores,
            const std::vector<std::string>& labels, double weight, EvalCounts& counts) {
  std::vector<Prediction> top;
  top_k(scores, scores, labels, EvalCounts::kTop, 0, top);
  counts.record(file, expected, top, {}, weight);
}

void evaluate(TrainReport& report) {
  for (std::size_t i = 0; i < report.pictures.size(); ++i) {
    const auto copies = static_cast<double>(report.scenes.size_of(i));
    record(report.pictures[i].file, report.pictures[i].label, report.validation.pictures[i].scores,
           report.labels, report.scenes.is_near_copy(i) ? 1 / copies : 1, report.counts);
  }
  report.threshold = suggest_threshold(report, [](std::size_t) { return true; });
  report.class_thresholds = suggest_class_thresholds(report);
  report.advice = advise(report);
}

std::vector<std::size_t> doubtful_pictures(const TrainReport& report) {
  std::vector<std::size_t> order(report.pictures.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&report](std::size_t a, std::size_t b) {
    const bool right_a = is_right(report, a);
    const bool right_b = is_right(report, b);
    if (right_a != right_b) return right_b;
    const float score_a = report.validation.pictures[a].score();
    const float score_b = report.validation.pictures[b].score();
    return right_a ? score_a < score_b : score_a > score_b;
  });
  return order;
}

std::string accuracy_text(const EvalCounts& counts) {
  const std::vector<ClassCounts> classes = counts.classes();
  return percent_text(mean_class_percent(classes).value_or(0), mean_class_interval(classes));
}

std::string threshold_text(const SuggestedThreshold& threshold) {
  return fmt::format(
      "{:.1f} % of the {} pictures above it are right (95 % interval {:.1f} to {:.1f} "
      "%), {:.1f} % lie below",
      100 * threshold.right, threshold.above, 100 * threshold.interval.low,
      100 * threshold.interval.high, 100 * threshold.below);
}

std::string validation_text(const TrainReport& report) {
  std::string text = "5 random folds";
  if (report.blocks_of_time) {
    text = "5 folds, in blocks of the time of capture";
  } else if (!report.classes_of_one_scene().empty()) {
    text = "5 folds, in blocks of the order of the files' names";
  }
  if (report.near_copies() > 0) text += ", near-copies together";
  return text;
}

std::string to_text(const TrainReport& report) {
  std::string text =
      fmt::format("{}: {} pictures, trained in {:.0f} s on {}\n", printable(report.file),
                  report.pictures.size(), report.seconds, printable(report.base));
  append_headline(report.counts, "right", "that were not trained with; " + validation_text(report),
                  text);
  if (report.val) {
    append_headline(
        report.val->counts, "val",
        fmt::format("in {}, by the model that was written", printable(report.val->folder)), text);
  }
  append_classes(report, text);
  append_format(text, "unknown {} of the classes' pictures\n",
                share_of(report.refused(), report.pictures.size()));
  text += to_text(report.foreign);
  append_format(
      text, "scores  differ from the accuracy by {:.1f} points (ECE), uncalibrated by {:.1f}\n",
      100 * report.counts.calibration().error.value_or(0), 100 * report.validation.error_before);
  if (report.skipped > 0) {
    append_format(text, "skipped {}, which could not be read\n", report.skipped);
  }
  append_curve(report, text);
  append_doubtful(report, text);
  if (!report.advice.empty()) text += "advice:\n";
  for (const std::string& sentence : report.advice)
    append_format(text, "- {}\n", printable(sentence));
  return text;
}

std::string to_json(const TrainReport& report) {
  const Json json{
      {"schema", 1},
      {"type", "train"},
      {"file", report.file},
      {"sha256", report.sha256},
      {"model", report.name},
      {"base", {{"name", report.base}, {"file", report.base_file}, {"sha256", report.base_sha256}}},
      {"source", report.source},
      {"labels", report.labels},
      {"pictures", report.pictures.size()},
      {"pictures_sha256", report.pictures_sha256},
      {"skipped", report.skipped},
      {"duplicates", report.duplicates},
      {"seconds", rounded(report.seconds)},
      {"validation", validation_text(report)},
      {"blocks_of_time", report.blocks_of_time},
      {"near_copies", {{"pictures", report.near_copies()}, {"scenes", report.copied_scenes()}}},
      {"one_scene", report.classes_of_one_scene()},
      {"equal", report.equal_classes ? "classes" : "pictures"},
      {"accuracy", accuracy_json(report.counts)},
      {"val", val_json(report)},
      {"refused", report.refused()},
      {"foreign", to_json(report.foreign)},
      {"classes", classes_json(report, report.counts)},
      {"confusions", confusions_json(report, report.counts)},
      {"calibration",
       {{"ece", or_null(ece_of(report.counts))},
        {"ece_uncalibrated", rounded(report.validation.error_before, 4)}}},
      {"threshold", threshold_json(report.threshold)},
      {"class_thresholds", class_thresholds_json(report)},
      {"learning_curve", curve_json(report)},
      {"doubtful", doubtful_json(report)},
      {"advice", report.advice}};
  return to_text(json) + "\n";
}

std::string producer_info(const TrainReport& report, const std::string& library) {
  std::map<std::string, std::size_t> classes;
  for (const TrainPicture& picture : report.pictures) ++classes[report.labels[picture.label]];
  const Json json{{"tool", "lookout train"},
                  {"lookout", LOOKOUT_VERSION},
                  {"library", library},
                  {"base", {{"name", report.base}, {"sha256", report.base_sha256}}},
                  {"classes", classes},
                  {"pictures", report.pictures.size()},
                  {"pictures_sha256", report.pictures_sha256},
                  {"validation", validation_text(report)},
                  {"accuracy", accuracy_json(report.counts)},
                  {"ece", or_null(ece_of(report.counts))}};
  return to_text(json, 2) + "\n";
}

}  // namespace lookout

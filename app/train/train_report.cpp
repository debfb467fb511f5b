#include "app/train/train_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "app/dataset/eval_charts.h"
#include "app/report/charts.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "pipeline/model/top_k.h"
#include "pipeline/training/calibration.h"

namespace lookout {
namespace {

constexpr std::size_t kDoubtfulInText = 10;
constexpr std::size_t kDoubtfulInPage = 24;
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

// The indices of the pictures that are wrong, the surest mistakes first, then of those that are
// right with the lowest scores.
std::vector<std::size_t> doubtful_pictures(const TrainReport& report) {
  std::vector<std::size_t> order(report.pictures.size());
  std::iota(order.begin(), order.end(), 0);
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

// How the folds were made: "5 folds, in blocks of the time of capture, near-copies together".
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

Tile accuracy_tile(const char* title, const EvalCounts& counts) {
  const std::vector<ClassCounts> classes = counts.classes();
  return {title, fmt::format("{:.1f} %", mean_class_percent(classes).value_or(0)),
          fmt::format("mean over the classes ({}); {} of the pictures",
                      interval_text(mean_class_interval(classes)),
                      share_text(counts.top1(), counts.pictures().size()))};
}

std::vector<Tile> tiles(const TrainReport& report) {
  const std::size_t all = report.pictures.size();
  std::vector<Tile> tiles{accuracy_tile("accuracy", report.counts)};
  if (report.val) tiles.push_back(accuracy_tile("accuracy on val", report.val->counts));
  tiles.push_back({"pictures", std::to_string(all),
                   fmt::format("of {} classes; {}", report.unknown(), validation_text(report))});
  tiles.push_back({"unknown", fmt::format("{:.1f} %", percent(report.refused(), all).value_or(0)),
                   fmt::format("{} pictures of the classes are refused", report.refused())});
  const ForeignReport& foreign = report.foreign;
  const auto add_foreign = [&tiles](const std::optional<RecognisedShare>& share,
                                    const std::string& subject) {
    if (!share) return;
    tiles.push_back(
        {"foreign", fmt::format("{:.1f} %", percent(share->recognised, share->all).value_or(0)),
         fmt::format("{} of {} {} are unknown ({})", share->recognised, share->all, subject,
                     interval_text(wilson_interval(share->recognised, share->all)))});
  };
  add_foreign(foreign.classes_of_base, "other classes of the base");
  add_foreign(foreign.pictures, "pictures in " + foreign.folder);
  if (!foreign.classes_of_base && !foreign.pictures) {
    tiles.push_back({"foreign", "not measured", "--other DIR measures it"});
  }
  tiles.push_back(
      {"calibration error",
       fmt::format("{:.1f} %", 100 * report.counts.calibration().error.value_or(0)),
       fmt::format("ECE; {:.1f} % before the calibration", 100 * report.validation.error_before)});
  return tiles;
}

std::vector<std::string> warnings(const TrainReport& report) {
  std::vector<std::string> warnings;
  if (report.skipped > 0) {
    warnings.push_back(
        fmt::format("{} pictures could not be read and were left out.", report.skipped));
  }
  if (!report.blocks_of_time) {
    warnings.emplace_back(
        "The times of the pictures do not tell when they were taken: see the advice.");
  }
  return warnings;
}

Part doubtful_part(const TrainReport& report) {
  Table table{"",
              {"picture",
               {"class", Shown::kText, Column::Align::kLeft},
               {"taken for", Shown::kText, Column::Align::kLeft},
               "score"},
              {}};
  table.shown = kDoubtfulInText;
  std::string html = "<ul class=\"pictures many\">\n";
  for (const std::size_t i : doubtful_pictures(report)) {
    if (table.rows.size() == kDoubtfulInPage) break;
    const ValidatedPicture& picture = report.validation.pictures[i];
    const std::string& file = report.pictures[i].file;
    const std::string& expected = report.labels[report.pictures[i].label];
    const std::string& predicted = report.labels[picture.predicted];
    const auto score = static_cast<double>(picture.score());
    table.rows.push_back({file, expected, predicted, fmt::format("{:.0f} %", 100 * score)});
    html += picture_html(
        {file, report.thumbnail ? report.thumbnail(file) : "",
         is_right(report, i) ? expected : fmt::format("{} instead of {}", predicted, expected),
         score});
  }
  return {"The most doubtful pictures",
          "First the wrong ones, the surest mistakes first: they are often labelled wrong. Then "
          "the right ones with the lowest scores.",
          {{Chart{html + "</ul>\n"}, Shown::kHtml}, {table, Shown::kText}},
          Width::kFull};
}

Chart curve_chart(const TrainReport& report) {
  std::vector<Bar> bars;
  for (const LearningPoint& point : report.validation.curve) {
    bars.push_back({fmt::format("{} of each class", point.pictures),
                    fmt::format("{:.1f} %", 100 * point.accuracy),
                    {point.accuracy},
                    std::nullopt});
  }
  return {bar_chart(bars, std::vector{Color::kBlue}), figures_of(bars)};
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
  for (const ClassCounts& entry : counts.classes()) {
    json.push_back({{"index", entry.index},
                    {"label", report.labels[entry.index]},
                    {"pictures", entry.pictures},
                    {"right", entry.top1},
                    {"predicted", entry.predicted}});
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

Json foreign_json(const ForeignReport& report) {
  const auto share_json = [](const std::optional<RecognisedShare>& share) -> Json {
    if (!share) return {};
    return {{"recognised", share->recognised},
            {"scenes", share->all},
            {"percent", or_null(percent(share->recognised, share->all))},
            {"interval_percent", interval_json(wilson_interval(share->recognised, share->all))}};
  };
  Json pictures = share_json(report.pictures);
  if (report.pictures) pictures["folder"] = report.folder;
  return {{"classes_of_base", share_json(report.classes_of_base)}, {"pictures", pictures}};
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

Json head_json(const std::optional<TrainedHead>& head) {
  if (!head) return {};
  return {{"file", head->file}, {"sha256", head->sha256}, {"bytes", head->bytes}};
}

Json to_json(const TrainReport& report) {
  return {
      {"schema", 1},
      {"type", "train"},
      {"file", report.file},
      {"sha256", report.sha256},
      {"head", head_json(report.head)},
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
      {"foreign", foreign_json(report.foreign)},
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

std::string threshold_text(const SuggestedThreshold& threshold) {
  return fmt::format("{:.1f} % of the {} pictures above it are right ({}), {:.1f} % lie below",
                     100 * threshold.right, threshold.above, interval_text(threshold.interval),
                     100 * threshold.below);
}

Report make_report(const TrainReport& report) {
  Report made;
  made.kind = "lookout train";
  made.title = report.name;
  made.note = report.source;
  made.head = {fmt::format("{}: {} pictures, trained in {:.0f} s on {}", report.file,
                           report.pictures.size(), report.seconds, report.base)};
  if (report.head && report.head->file != report.file) {
    made.head.push_back(fmt::format("{}: the same without the base, {} KB", report.head->file,
                                    (report.head->bytes + 999) / 1000));
  }
  made.tiles = tiles(report);
  made.warnings = warnings(report);
  made.parts = {{"Confusion matrix",
                 "Each picture was classified by a model that was trained without its fold: " +
                     validation_text(report) + ".",
                 {{Chart{matrix_chart(report.counts, report.labels)}, Shown::kHtml},
                  {classes_table(report.counts, report.labels), Shown::kText},
                  {confusions_table(report.counts, report.labels), Shown::kText}}},
                {"Advice", "", {List{report.advice}}},
                doubtful_part(report),
                {"Accuracy by the number of pictures",
                 "If it still rises at the end, more pictures would help.",
                 {curve_chart(report)}},
                reliability_part(report.counts.calibration()),
                {"Model",
                 "",
                 {{Facts{{"archive", report.file},
                         {"sha256", report.sha256},
                         {"sha256 of the pictures", report.pictures_sha256},
                         {"L2", fmt::format("{:g}", report.validation.l2)},
                         {"training", fmt::format("{:.0f} s", report.seconds)}},
                   Shown::kHtml}}},
                {"Base", "", {{report.base_facts, Shown::kHtml}}},
                {"Machine", "", {{report.machine_facts, Shown::kHtml}}}};
  made.json = [&report] { return to_json(report); };
  return made;
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

#include "app/train/train_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/dataset/eval_charts.h"
#include "app/eval/eval_result.h"
#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/report/machine_facts.h"
#include "app/report/picture.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

constexpr std::size_t kDoubtful = 24;

Tile accuracy_tile(const char* title, const EvalCounts& counts) {
  const std::string accuracy = accuracy_text(counts);
  const auto interval = accuracy.find(" (");
  return {title, accuracy.substr(0, interval),
          fmt::format("mean over the classes {}; {} of the pictures", accuracy.substr(interval + 1),
                      share_of(counts.top1(), counts.pictures().size()))};
}

// What is known about scenes of none of the classes.
Tile foreign_tile(const TrainReport& report) {
  const auto share = report.foreign.best_known();
  if (!share) return {"foreign", "not measured", "--other DIR measures it"};
  return {"foreign", fmt::format("{:.1f} %", percent(share->recognised, share->all).value_or(0)),
          fmt::format("{} of {} {} are unknown", share->recognised, share->all,
                      subject_of(report.foreign))};
}

std::string tiles(const TrainReport& report) {
  const std::size_t all = report.pictures.size();
  std::vector<Tile> tiles{accuracy_tile("accuracy", report.counts)};
  if (report.val) tiles.push_back(accuracy_tile("accuracy on val", report.val->counts));
  tiles.insert(tiles.end(),
               {{"pictures", std::to_string(all),
                 fmt::format("of {} classes; {}", report.unknown(), validation_text(report))},
                {"unknown", fmt::format("{:.1f} %", percent(report.refused(), all).value_or(0)),
                 fmt::format("{} pictures of the classes are refused", report.refused())},
                foreign_tile(report),
                {"calibration error",
                 fmt::format("{:.1f} %", 100 * report.counts.calibration().error.value_or(0)),
                 fmt::format("ECE; {:.1f} % before the calibration",
                             100 * report.validation.error_before)}});
  return to_html(tiles);
}

std::string advice(const TrainReport& report) {
  std::string out = "<ul>\n";
  for (const std::string& sentence : report.advice) {
    out += fmt::format("<li>{}</li>\n", escaped(sentence));
  }
  return out + "</ul>\n";
}

std::string doubtful(const TrainReport& report) {
  std::string out = "<ul class=\"pictures many\">\n";
  const std::vector<std::size_t> pictures = doubtful_pictures(report);
  for (std::size_t n = 0; n < std::min(kDoubtful, pictures.size()); ++n) {
    const std::size_t i = pictures[n];
    const ValidatedPicture& picture = report.validation.pictures[i];
    const std::string& expected = report.labels[report.pictures[i].label];
    const std::string& predicted = report.labels[picture.predicted];
    const bool right = picture.predicted == report.pictures[i].label;
    out += picture_html({report.pictures[i].file, thumbnail_of(report.pictures[i].file),
                         right ? expected : fmt::format("{} instead of {}", predicted, expected),
                         static_cast<double>(picture.score())});
  }
  return out + "</ul>\n";
}

std::string curve(const TrainReport& report) {
  std::vector<Bar> bars;
  for (const LearningPoint& point : report.validation.curve) {
    bars.push_back({fmt::format("{} of each class", point.pictures),
                    fmt::format("{:.1f} %", 100 * point.accuracy),
                    {point.accuracy},
                    std::nullopt});
  }
  return bar_chart(bars, {Color::kBlue});
}

std::string reliability(const TrainReport& report) {
  return legend({{Color::kBlue, "right"}, {Color::kOrange, "mean score"}}) +
         reliability_chart(report.counts.calibration());
}

void add_warnings(const TrainReport& report, Page& page) {
  if (report.skipped > 0) {
    page.add_warning(
        fmt::format("{} pictures could not be read and were left out.", report.skipped));
  }
  if (!report.blocks_of_time) {
    page.add_warning("The times of the pictures do not tell when they were taken: see the advice.");
  }
}

Facts model_facts(const TrainReport& report, const ModelFacts& facts) {
  return {{"archive", report.file},
          {"sha256", report.sha256},
          {"base", fmt::format("{} ({})", report.base, report.base_file)},
          {"sha256 of the base", report.base_sha256},
          {"activations", facts.activations + ", computed by " + facts.kernels + " kernels"},
          {"sha256 of the pictures", report.pictures_sha256},
          {"L2", fmt::format("{:g}", report.validation.l2)},
          {"training", fmt::format("{:.0f} s", report.seconds)}};
}

}  // namespace

std::string to_html(const TrainReport& report, const ModelFacts& facts) {
  Page page("lookout train", report.name, report.source);
  page.add_top(tiles(report));
  add_warnings(report, page);
  page.add_part("Confusion matrix",
                "Each picture was classified by a model that was trained without its fold: " +
                    validation_text(report) + ".",
                matrix_chart(report.counts, report.labels));
  page.add_part("Advice", "", advice(report));
  page.add_part(
      "The most doubtful pictures",
      "First the wrong ones, the surest mistakes first: they are often labelled wrong. Then "
      "the right ones with the lowest scores.",
      doubtful(report), Page::Width::kFull);
  page.add_part("Accuracy by the number of pictures",
                "If it still rises at the end, more pictures would help.", curve(report));
  page.add_part("Reliability of the scores",
                "80 % of the pictures with a score of 80 % should be right: then the bar ends at "
                "its orange line.",
                reliability(report));
  page.add_part("Model", "", to_html(model_facts(report, facts)));
  const SystemInfo system = read_system_info();
  page.add_part("Machine", "",
                to_html(machine_facts(system, machine_kind(system, kBuiltForArm), processors(),
                                      fmt::format("{}, {}", library_text(facts), facts.engine))));
  return page.to_html(made_by(LOOKOUT_VERSION));
}

}  // namespace lookout

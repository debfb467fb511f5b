#include "app/train/foreign_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/eval/eval_result.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/training/calibration.h"

namespace lookout {
namespace {

constexpr double kWeak = 0.5;  // of foreign scenes
constexpr const char* kClassesOfBase = "other classes of the base";

std::string pictures_of(const ForeignReport& report) {
  return "pictures in " + printable(report.folder);
}

double fraction(const RecognisedShare& share) {
  return static_cast<double>(share.recognised) / static_cast<double>(share.all);
}

Json share_json(const std::optional<RecognisedShare>& share) {
  if (!share) return {};
  const auto [low, high] = wilson_interval(share->recognised, share->all);
  return {{"recognised", share->recognised},
          {"scenes", share->all},
          {"percent", or_null(percent(share->recognised, share->all))},
          {"interval_percent", {rounded(100 * low, 2), rounded(100 * high, 2)}}};
}

}  // namespace

std::optional<RecognisedShare> ForeignReport::best_known() const {
  return pictures ? pictures : classes_of_base;
}

std::string to_text(const RecognisedShare& share) {
  const auto [low, high] = wilson_interval(share.recognised, share.all);
  return fmt::format("{:.1f} % (95 % interval {:.1f} to {:.1f} %)", 100 * fraction(share),
                     100 * low, 100 * high);
}

std::string subject_of(const ForeignReport& report) {
  return report.pictures ? pictures_of(report) : kClassesOfBase;
}

std::string to_text(const ForeignReport& report) {
  std::string out;
  const auto append = [&out](const std::optional<RecognisedShare>& share,
                             const std::string& subject) {
    if (!share) return;
    append_format(out, "foreign {} of {} {} are unknown, {}\n", share->recognised, share->all,
                  subject, to_text(*share));
  };
  append(report.classes_of_base, kClassesOfBase);
  append(report.pictures, pictures_of(report));
  return out;
}

Json to_json(const ForeignReport& report) {
  Json pictures = share_json(report.pictures);
  if (report.pictures) pictures["folder"] = report.folder;
  return {{"classes_of_base", share_json(report.classes_of_base)}, {"pictures", pictures}};
}

std::string advice_of(const ForeignReport& report) {
  const std::optional<RecognisedShare> share = report.best_known();
  if (!share) {
    return "Whether foreign scenes become unknown was not measured, since the base knows too few "
           "classes: try it with --other DIR, a folder of pictures of none of the classes.";
  }
  if (fraction(*share) >= kWeak) return {};
  return fmt::format(
      "\"unknown\" is weak: {:.1f} % of {} {} become unknown, all others get one of the classes. "
      "Put pictures of what else the camera may see into the folder _other.",
      100 * fraction(*share), share->all, subject_of(report));
}

}  // namespace lookout

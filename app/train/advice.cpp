#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "app/train/train_report.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

constexpr std::size_t kFewPictures = 20;
constexpr double kAlike = 0.15;          // of a class that is taken for another one
constexpr double kDark = 40;             // mean brightness, 0..255
constexpr double kBrighter = 30;         // difference of means
constexpr double kRising = 0.01;         // of the learning curve's last step
constexpr double kWeak = 50;             // percent of the foreign scenes
constexpr std::size_t kMuchMore = 5;     // times as many pictures
constexpr std::size_t kManyCopies = 10;  // near-copies are more than a tenth

using Sentences = std::vector<std::string>;

struct Class {
  std::string label;
  std::size_t pictures = 0;
  double brightness = 0;  // mean
  double deviation = 0;   // of it
  std::set<int> hours;    // in which its pictures were taken
};

Class describe(const TrainReport& report, std::size_t index) {
  Class described;
  described.label = report.labels[index];
  double squares = 0;
  for (const TrainPicture& picture : report.pictures) {
    if (picture.label != index) continue;
    const auto brightness = static_cast<double>(picture.brightness);
    ++described.pictures;
    described.brightness += brightness;
    squares += brightness * brightness;
    described.hours.insert(picture.time.hour());
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, described.pictures));
  double& mean = described.brightness;
  mean /= count;
  described.deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  return described;
}

std::string hours_text(const std::set<int>& hours) {
  return fmt::format("{:02}:00 to {:02}:59", *hours.begin(), *hours.rbegin());
}

void add_folds(const TrainReport& report, Sentences& sentences) {
  if (const std::size_t copies = report.near_copies();
      kManyCopies * copies >= report.pictures.size()) {
    sentences.push_back(fmt::format(
        "{} pictures are near-copies of others: they show {} scene{}. Near-copies are left out "
        "together, and count as one picture in the interval. Take pictures of more scenes.",
        copies, report.copied_scenes(), report.copied_scenes() == 1 ? "" : "s"));
  }
  const std::vector<std::string> fixed = report.classes_of_one_scene();
  if (!fixed.empty()) {
    sentences.push_back(fmt::format(
        "The pictures of {} are nearly all of one scene, as of a camera that does not move: the "
        "accuracy is that of this scene.",
        joined(fixed, ", ")));
  }
  if (report.blocks_of_time) return;
  sentences.push_back(fmt::format(
      "The times of the pictures do not tell when they were taken: if {}, the accuracy is lower "
      "than measured.",
      fixed.empty() ? "pictures of one event look so different that they are not found as "
                      "near-copies"
                    : "the names of a fixed camera's files are not in the order of time"));
}

void add_few_pictures(const std::vector<Class>& classes, bool equal_classes, Sentences& sentences) {
  if (classes.empty()) return;
  for (const Class& entry : classes) {
    if (entry.pictures >= kFewPictures) continue;
    sentences.push_back(fmt::format("{} has {} pictures: take 20 and more, at different times.",
                                    entry.label, entry.pictures));
  }
  const auto fewer = [](const Class& a, const Class& b) { return a.pictures < b.pictures; };
  const Class& least = *std::min_element(classes.begin(), classes.end(), fewer);
  const Class& most = *std::max_element(classes.begin(), classes.end(), fewer);
  if (most.pictures < kMuchMore * least.pictures) return;
  sentences.push_back(fmt::format(
      "{} has {} times as many pictures as {}: {}.", most.label, most.pictures / least.pictures,
      least.label,
      equal_classes ? "each of the fewer ones weighs as much more, so take more of them"
                    : "in doubt, the model prefers it; --equal classes has both weigh the same"));
}

// About pictures where there are some.
void add_foreign(const ForeignReport& foreign, Sentences& sentences) {
  const auto& share = foreign.pictures ? foreign.pictures : foreign.classes_of_base;
  if (!share) {
    sentences.emplace_back(
        "Whether foreign scenes become unknown was not measured, since the base knows too few "
        "classes: try it with --other DIR, a folder of pictures of none of the classes.");
    return;
  }
  const double recognised = percent(share->recognised, share->all).value_or(0);
  if (recognised >= kWeak) return;
  sentences.push_back(fmt::format(
      "\"unknown\" is weak: {:.1f} % of {} {} become unknown, all others get one of the classes. "
      "Put pictures of what else the camera may see into the folder _other.",
      recognised, share->all,
      foreign.pictures ? "pictures in " + foreign.folder : "other classes of the base"));
}

void add_confusions(const EvalCounts& counts, const std::vector<Class>& classes,
                    Sentences& sentences) {
  for (const Confusion& confusion : counts.confusions()) {
    if (confusion.expected >= classes.size() || confusion.predicted >= classes.size()) continue;
    const Class& right = classes[confusion.expected];
    const double share = static_cast<double>(confusion.count) / static_cast<double>(right.pictures);
    if (share < kAlike) continue;
    sentences.push_back(fmt::format(
        "{} looks like {}: {:.0f} % of its pictures are taken for it. Check their labels, or cut "
        "out the part of the picture that differs (--roi, in run and train alike).",
        right.label, classes[confusion.predicted].label, 100 * share));
  }
}

template <typename Compare>
void for_pairs(const std::vector<Class>& classes, const Compare& compare) {
  for (auto a = classes.begin(); a != classes.end(); ++a) {
    for (auto b = a + 1; b != classes.end(); ++b) compare(*a, *b);
  }
}

void add_light(const std::vector<Class>& classes, Sentences& sentences) {
  for_pairs(classes, [&sentences](const Class& a, const Class& b) {
    const double difference = std::abs(a.brightness - b.brightness);
    if (difference < std::max(kBrighter, a.deviation + b.deviation)) return;
    sentences.push_back(fmt::format(
        "{} is {} than {} (mean brightness {:.0f} and {:.0f} of 255): the model may have learned "
        "the light. Take pictures of both in the same light.",
        a.label, a.brightness > b.brightness ? "brighter" : "darker", b.label, a.brightness,
        b.brightness));
  });
}

// Nothing when the times of some pictures are not known.
void add_hours(const TrainReport& report, const std::vector<Class>& classes, Sentences& sentences) {
  const bool known =
      std::all_of(report.pictures.begin(), report.pictures.end(),
                  [](const TrainPicture& picture) { return picture.time.is_taken(); });
  if (!known) return;
  for_pairs(classes, [&sentences](const Class& a, const Class& b) {
    std::vector<int> common;
    std::set_intersection(a.hours.begin(), a.hours.end(), b.hours.begin(), b.hours.end(),
                          std::back_inserter(common));
    if (!common.empty()) return;
    sentences.push_back(fmt::format(
        "The pictures of {} and of {} were taken at different hours ({} and {} UTC): the model may "
        "have learned the light. Take pictures of both at the same hours.",
        a.label, b.label, hours_text(a.hours), hours_text(b.hours)));
  });
  const bool dark =
      std::any_of(report.pictures.begin(), report.pictures.end(),
                  [](const TrainPicture& picture) { return picture.brightness < kDark; });
  if (dark) return;
  sentences.emplace_back(
      "There are no pictures from the night: if the camera also watches in the dark, take some "
      "there. A model does not know light that is darker than any in its pictures.");
}

void add_curve(const std::vector<LearningPoint>& curve, Sentences& sentences) {
  if (curve.size() < 2) return;
  const LearningPoint& last = curve.back();
  const LearningPoint& before = curve[curve.size() - 2];
  if (last.accuracy - before.accuracy < kRising) return;
  sentences.push_back(fmt::format(
      "More pictures would help: with {} of each class {:.1f} % are right, with {} {:.1f} %.",
      before.pictures, 100 * before.accuracy, last.pictures, 100 * last.accuracy));
}

void add_thresholds(const TrainReport& report, Sentences& sentences) {
  if (!report.threshold) {
    sentences.emplace_back(
        "No threshold for states is suggested: it takes one with 30 different pictures or more "
        "above it, of which 99 % are right. Check the labels, or take more pictures.");
    return;
  }
  sentences.push_back(fmt::format("For a steady state: --set state.enter-threshold={:.2f}; {}.",
                                  report.threshold->threshold, threshold_text(*report.threshold)));
  for (std::size_t i = 0; i < report.class_thresholds.size(); ++i) {
    const auto& threshold = report.class_thresholds[i];
    if (!threshold) continue;
    sentences.push_back(fmt::format("For the state {} alone, {:.2f} would do: {}.",
                                    report.labels[i], threshold->threshold,
                                    threshold_text(*threshold)));
  }
}

}  // namespace

std::vector<std::string> advise(const TrainReport& report) {
  std::vector<Class> classes;  // without the counter-examples
  for (std::size_t index = 0; index < report.unknown(); ++index) {
    classes.push_back(describe(report, index));
  }
  Sentences sentences;
  add_folds(report, sentences);
  add_few_pictures(classes, report.equal_classes, sentences);
  add_foreign(report.foreign, sentences);
  add_confusions(report.counts, classes, sentences);
  add_light(classes, sentences);
  add_hours(report, classes, sentences);
  add_curve(report.validation.curve, sentences);
  add_thresholds(report, sentences);
  return sentences;
}

}  // namespace lookout

#include "app/train/advice.h"

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
constexpr std::size_t kMuchMore = 5;     // times as many pictures
constexpr std::size_t kManyCopies = 10;  // near-copies are more than a tenth

struct Class {
  std::string label;
  std::size_t pictures = 0;
  double brightness = 0;  // mean
  double deviation = 0;   // of it
  std::set<int> hours;    // in which its pictures were taken
};

class Advice {
 public:
  explicit Advice(const TrainReport& report) : report_(report) {
    for (std::size_t index = 0; index < report.unknown(); ++index) {
      classes_.push_back(describe(index));
    }
    times_are_known_ =
        std::all_of(report.pictures.begin(), report.pictures.end(),
                    [](const TrainPicture& picture) { return picture.time.is_taken(); });
  }

  std::vector<std::string> all() {
    say_how_folds_were_made();
    say_what_is_few();
    say_whether_foreign_is_unknown();
    say_what_looks_alike();
    say_what_the_light_gives_away();
    if (times_are_known_) {
      compare_hours();
      look_for_the_night();
    }
    read_the_curve();
    suggest_threshold();
    return std::move(sentences_);
  }

 private:
  Class describe(std::size_t index) const {
    Class of_class;
    of_class.label = report_.labels[index];
    double squares = 0;
    for (std::size_t i = 0; i < report_.pictures.size(); ++i) {
      if (report_.pictures[i].label != index) continue;
      const auto brightness = static_cast<double>(report_.pictures[i].brightness);
      ++of_class.pictures;
      of_class.brightness += brightness;
      squares += brightness * brightness;
      of_class.hours.insert(report_.pictures[i].time.hour());
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, of_class.pictures));
    of_class.brightness /= count;
    of_class.deviation =
        std::sqrt(std::max(0.0, squares / count - of_class.brightness * of_class.brightness));
    return of_class;
  }

  template <typename... Values>
  void say(const char* format, const Values&... values) {
    sentences_.push_back(fmt::format(fmt::runtime(format), values...));
  }

  template <typename Compare>
  void for_pairs(const Compare& compare) {
    for (std::size_t a = 0; a < classes_.size(); ++a) {
      for (std::size_t b = a + 1; b < classes_.size(); ++b) compare(classes_[a], classes_[b]);
    }
  }

  void say_how_folds_were_made() {
    if (const std::size_t copies = report_.near_copies();
        kManyCopies * copies >= report_.pictures.size()) {
      say("{} pictures are near-copies of others: they show {} scene{}. Near-copies are left out "
          "together, and count as one picture in the interval. Take pictures of more scenes.",
          copies, report_.copied_scenes(), report_.copied_scenes() == 1 ? "" : "s");
    }
    const std::vector<std::string> fixed = report_.classes_of_one_scene();
    if (!fixed.empty()) {
      say("The pictures of {} are nearly all of one scene, as of a camera that does not move: the "
          "accuracy is that of this scene.",
          joined(fixed, ", "));
    }
    if (report_.blocks_of_time) return;
    say("The times of the pictures do not tell when they were taken: if {}, the accuracy is lower "
        "than measured.",
        fixed.empty() ? "pictures of one event look so different that they are not found as "
                        "near-copies"
                      : "the names of a fixed camera's files are not in the order of time");
  }

  void say_what_is_few() {
    if (classes_.empty()) return;
    const Class* least = &classes_.front();
    const Class* most = least;
    for (const Class& of_class : classes_) {
      if (of_class.pictures < kFewPictures) {
        say("{} has {} pictures: take 20 and more, at different times.", of_class.label,
            of_class.pictures);
      }
      if (of_class.pictures < least->pictures) least = &of_class;
      if (of_class.pictures > most->pictures) most = &of_class;
    }
    if (most->pictures >= kMuchMore * least->pictures) {
      say("{} has {} times as many pictures as {}: {}.", most->label,
          most->pictures / least->pictures, least->label,
          report_.equal_classes
              ? "each of the fewer ones weighs as much more, so take more of them"
              : "in doubt, the model prefers it; --equal classes has both weigh the same");
    }
  }

  void say_whether_foreign_is_unknown() {
    std::string sentence = advice_of(report_.foreign);
    if (!sentence.empty()) sentences_.push_back(std::move(sentence));
  }

  void say_what_looks_alike() {
    for (const Confusion& confusion : report_.counts.confusions()) {
      if (confusion.expected >= classes_.size() || confusion.predicted >= classes_.size()) continue;
      const Class& right = classes_[confusion.expected];
      const double share =
          static_cast<double>(confusion.count) / static_cast<double>(right.pictures);
      if (share < kAlike) continue;
      say("{} looks like {}: {:.0f} % of its pictures are taken for it. Check their labels, or cut "
          "out the part of the picture that differs (--roi, in run and train alike).",
          right.label, classes_[confusion.predicted].label, 100 * share);
    }
  }

  void say_what_the_light_gives_away() {
    for_pairs([this](const Class& a, const Class& b) {
      const double difference = std::abs(a.brightness - b.brightness);
      if (difference < std::max(kBrighter, a.deviation + b.deviation)) return;
      say("{} is {} than {} (mean brightness {:.0f} and {:.0f} of 255): the model may have learned "
          "the light. Take pictures of both in the same light.",
          a.label, a.brightness > b.brightness ? "brighter" : "darker", b.label, a.brightness,
          b.brightness);
    });
  }

  void compare_hours() {
    for_pairs([this](const Class& a, const Class& b) {
      std::vector<int> common;
      std::set_intersection(a.hours.begin(), a.hours.end(), b.hours.begin(), b.hours.end(),
                            std::back_inserter(common));
      if (!common.empty()) return;
      say("The pictures of {} and of {} were taken at different hours ({} and {} UTC): the model "
          "may "
          "have learned the light. Take pictures of both at the same hours.",
          a.label, b.label, hours_text(a.hours), hours_text(b.hours));
    });
  }

  static std::string hours_text(const std::set<int>& hours) {
    return fmt::format("{:02}:00 to {:02}:59", *hours.begin(), *hours.rbegin());
  }

  void look_for_the_night() {
    const bool dark =
        std::any_of(report_.pictures.begin(), report_.pictures.end(),
                    [](const TrainPicture& picture) { return picture.brightness < kDark; });
    if (dark) return;
    say("There are no pictures from the night: if the camera also watches in the dark, take some "
        "there. A model does not know light that is darker than any in its pictures.");
  }

  void read_the_curve() {
    const auto& curve = report_.validation.curve;
    if (curve.size() < 2) return;
    const LearningPoint& last = curve.back();
    const LearningPoint& before = curve[curve.size() - 2];
    if (last.accuracy - before.accuracy < kRising) return;
    say("More pictures would help: with {} of each class {:.1f} % are right, with {} {:.1f} %.",
        before.pictures, 100 * before.accuracy, last.pictures, 100 * last.accuracy);
  }

  void suggest_threshold() {
    if (!report_.threshold) {
      say("No threshold for states is suggested: it takes one with 30 different pictures or more "
          "above it, of which 99 % are right. Check the labels, or take more pictures.");
      return;
    }
    say("For a steady state: --set state.enter-threshold={:.2f}; {}.", report_.threshold->threshold,
        threshold_text(*report_.threshold));
    for (std::size_t i = 0; i < report_.class_thresholds.size(); ++i) {
      const auto& threshold = report_.class_thresholds[i];
      if (!threshold) continue;
      say("For the state {} alone, {:.2f} would do: {}.", classes_[i].label, threshold->threshold,
          threshold_text(*threshold));
    }
  }

  const TrainReport& report_;
  std::vector<Class> classes_;  // without the counter-examples
  bool times_are_known_ = false;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> advise(const TrainReport& report) { return Advice(report).all(); }

}  // namespace lookout

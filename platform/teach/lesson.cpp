#include "platform/teach/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "pipeline/training/folds.h"
#include "pipeline/training/scenes.h"
#include "platform/teach/teach_progress.h"

namespace lookout {
namespace {

constexpr const char* kUnknown = "unknown";

std::size_t index_of(const std::vector<std::string>& classes, const std::string& label) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), label);
  const bool is_class = found != classes.end() && *found == label;
  return is_class ? static_cast<std::size_t>(found - classes.begin()) : classes.size();
}

void add_rows(const Embeddings& from, Embeddings& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.add_row(from[i], from.width());
}

void add_foreign(const Embeddings& class_rows, TrainingSet& set) {
  if (set.profiles.size() == 0 || class_rows.size() == 0) return;
  Embeddings known;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    if (!set.is_counter_example(i)) known.add_row(set.profiles[set.row(i)], set.profiles.width());
  }
  set.foreign = foreign_profiles(class_rows, known);
}

void require_pictures(const Lesson& lesson) {
  std::vector<std::size_t> counts(lesson.classes.size() + 1);
  for (const std::size_t index : lesson.set.picture_classes) ++counts[index];
  for (std::size_t i = 0; i < lesson.classes.size(); ++i) {
    if (counts[i] >= kLeastPictures) continue;
    throw TeachError(TeachProblem::kTooFewPictures,
                     fmt::format("class '{}' has {} pictures: at least {} are needed",
                                 lesson.classes[i], counts[i], kLeastPictures));
  }
}

// An occasion is a scene, which is left out as a whole unless it is all that a class has.
Scenes scenes_of_occasions(const Lesson& lesson) {
  std::map<std::size_t, std::set<std::size_t>> occasions;  // of each class
  Scenes scenes;
  scenes.scene_of = lesson.occasions;
  for (std::size_t i = 0; i < lesson.pictures.size(); ++i) {
    const std::size_t occasion = lesson.occasions[i];
    occasions[lesson.set.picture_classes[i]].insert(occasion);
    if (occasion >= scenes.sizes.size()) scenes.sizes.resize(occasion + 1);
    ++scenes.sizes[occasion];
  }
  scenes.fixed.resize(scenes.sizes.size());
  for (const auto& [index, of_class] : occasions) {
    if (of_class.size() == 1) scenes.fixed[*of_class.begin()] = true;
  }
  return scenes;
}

std::vector<std::size_t> order_of_time(const Lesson& lesson) {
  std::vector<std::size_t> order(lesson.pictures.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&lesson](std::size_t a, std::size_t b) {
    return lesson.pictures[a].number < lesson.pictures[b].number;
  });
  return order;
}

// As many independent pictures as all are worth. `scenes`: find_scenes().
std::size_t different_pictures(const Lesson& lesson, const Scenes& scenes) {
  std::set<std::pair<std::size_t, std::size_t>> different;
  for (std::size_t i = 0; i < lesson.pictures.size(); ++i) {
    different.emplace(lesson.occasions[i], scenes.scene_of[i]);
  }
  return different.size();
}

void count(bool right, RightShare& share) {
  ++share.pictures;
  share.right += right ? 1 : 0;
}

// Whether the model can judge the lesson's pictures.
bool fits(const FormerModel& former, const Lesson& lesson) {
  const TrainedModel& model = former.model;
  const TrainingSet& set = lesson.set;
  const bool of_profiles = set.profiles.size() > 0;
  if (model.head.outputs == 0 ||
      model.head.weights.size() != model.head.outputs * set.embeddings.width() ||
      model.detector.of_profiles != of_profiles ||
      model.detector.examples.width() != set.ood_features().width() ||
      former.labels.size() != model.classes + 1) {
    return false;
  }
  return std::all_of(former.labels.begin(), former.labels.end() - 1,
                     [&lesson](const std::string& label) {
                       return index_of(lesson.classes, label) < lesson.classes.size();
                     });
}

// `picture`: its place in the lesson.
bool is_right(const FormerModel& former, const Lesson& lesson, std::size_t picture) {
  const std::vector<float> scores = scores_of(former.model, lesson.set, picture);
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  const bool is_other = lesson.set.is_counter_example(picture);
  const std::string expected = is_other ? kUnknown : lesson.pictures[picture].label;
  return former.labels[static_cast<std::size_t>(best)] == expected;
}

std::vector<TaughtConfusion> confusions_of(const std::vector<Mistake>& mistakes) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Mistake& mistake : mistakes) ++counts[{mistake.label, mistake.predicted}];
  std::vector<TaughtConfusion> confusions;
  confusions.reserve(counts.size());
  for (const auto& [labels, pictures] : counts) {
    confusions.push_back({labels.first, labels.second, pictures});
  }
  std::stable_sort(
      confusions.begin(), confusions.end(),
      [](const TaughtConfusion& a, const TaughtConfusion& b) { return a.pictures > b.pictures; });
  return confusions;
}

}  // namespace

Lesson make_lesson(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                   const std::function<std::optional<KeptEmbeddings>(std::int64_t)>& find,
                   const Embeddings& class_rows) {
  Lesson lesson;
  lesson.classes = watch.classes;
  std::sort(lesson.classes.begin(), lesson.classes.end());
  lesson.set.classes = lesson.classes.size();
  const std::vector<std::size_t> occasions = occasions_of(pictures);
  const auto others = std::count_if(pictures.begin(), pictures.end(), [&](const auto& picture) {
    return index_of(lesson.classes, picture.label) == lesson.classes.size();
  });
  // Fewer are no class of their own: held out they would all be wrong, and weigh as much as one.
  const bool has_others = static_cast<std::size_t>(others) >= kLeastPictures;
  for (std::size_t index = 0; index < lesson.classes.size() + (has_others ? 1 : 0); ++index) {
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (index_of(lesson.classes, pictures[i].label) != index) continue;
      const auto kept = find(pictures[i].number);
      if (!kept || kept->directions.size() == 0) {
        ++lesson.skipped;
        continue;
      }
      lesson.set.views = kept->directions.size();
      add_rows(kept->directions, lesson.set.embeddings);
      add_rows(kept->profiles, lesson.set.profiles);
      lesson.set.picture_classes.push_back(index);
      lesson.pictures.push_back(pictures[i]);
      lesson.occasions.push_back(occasions[i]);
    }
  }
  require_pictures(lesson);
  add_foreign(class_rows, lesson.set);
  return lesson;
}

// The model is that of `lookout train`. What is told of it is measured with whole occasions that
// were left out.
LessonResult learn(const Lesson& lesson, const Progress& progress) {
  const std::vector<std::size_t>& classes = lesson.set.picture_classes;
  const std::vector<std::size_t> order = order_of_time(lesson);
  const Scenes near_copies = find_scenes(lesson.set, [&progress] { progress(0); });
  CrossValidationOptions options;
  options.curve = false;
  constexpr double kChoice = 0.8;  // of the time
  const Validation choice = cross_validate(
      lesson.set, make_folds(order, classes, near_copies),
      [&progress](double done) { progress(kChoice * done); }, options);
  options.l2 = choice.l2;
  const Scenes scenes = scenes_of_occasions(lesson);
  LessonResult result;
  result.validation = cross_validate(
      lesson.set, make_folds(order, classes, scenes),
      [&progress](double done) { progress(kChoice + (1 - kChoice) * done); }, options);
  result.model = train(lesson.set, choice);
  result.can_tell = true;
  for (std::size_t i = 0; i < lesson.pictures.size(); ++i) {
    const std::size_t label = lesson.set.picture_classes[i];
    if (scenes.is_fixed(i) && label < lesson.classes.size()) result.can_tell = false;
    const ValidatedPicture& judged = result.validation.pictures[i];
    const bool right = judged.predicted == label;
    const TaughtPicture& picture = lesson.pictures[i];
    count(right, result.all);
    count(right, picture.night ? result.night : result.day);
    if (right) continue;
    const bool is_class = judged.predicted < lesson.classes.size();
    result.mistakes.push_back({picture.number, picture.label,
                               is_class ? lesson.classes[judged.predicted] : kUnknown,
                               judged.score()});
  }
  std::stable_sort(result.mistakes.begin(), result.mistakes.end(),
                   [](const Mistake& a, const Mistake& b) { return a.score > b.score; });
  result.confusions = confusions_of(result.mistakes);
  const double share =
      static_cast<double>(result.all.right) / static_cast<double>(result.all.pictures);
  result.interval =
      share_interval(share, static_cast<double>(different_pictures(lesson, near_copies)));
  return result;
}

std::optional<Comparison> compare(const Lesson& lesson, const LessonResult& result,
                                  const FormerModel& former) {
  if (former.newest == 0 || !fits(former, lesson)) return std::nullopt;
  std::set<std::size_t> known;  // occasions
  for (std::size_t i = 0; i < lesson.pictures.size(); ++i) {
    if (lesson.pictures[i].number <= former.newest) known.insert(lesson.occasions[i]);
  }
  Comparison compared;
  for (std::size_t i = 0; i < lesson.pictures.size(); ++i) {
    if (known.count(lesson.occasions[i]) > 0) continue;
    const std::size_t predicted = result.validation.pictures[i].predicted;
    count(predicted == lesson.set.picture_classes[i], compared.trained);
    count(is_right(former, lesson, i), compared.in_use);
  }
  if (compared.in_use.pictures < kLeastCompared) return std::nullopt;
  return compared;
}

}  // namespace lookout

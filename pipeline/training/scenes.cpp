#include "pipeline/training/scenes.h"

#include <Eigen/Core>
#include <algorithm>
#include <map>
#include <numeric>

namespace lookout {
namespace {

using Directions = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kRowsAtOnce = 256;  // rows that are compared at once
// Of 2, 2.5 and 3, found the copies of 12 to 45 photographs best, cropped to 60 to 100 %, lit,
// turned and mirrored: all but one copy of 375. Of 244 different pictures of ants and bees it
// joins 13.
constexpr float kChanges = 2.5F;
constexpr double kMostOfClass = 0.5;
constexpr double kFewOfOthers = 0.2;  // pictures of other classes: labels may be wrong

// Sets that are joined step by step.
class Groups {
 public:
  explicit Groups(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  std::size_t find(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  // The lower number stays.
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

Directions first_views(const TrainingSet& set) {
  const auto width = static_cast<Eigen::Index>(set.embeddings.width());
  Directions rows(static_cast<Eigen::Index>(set.pictures()), width);
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXf>(set.embeddings[set.row(i)], width);
  }
  return rows;
}

void join_alike(const Directions& rows, float similarity, Groups& groups,
                const std::function<void()>& check) {
  for (Eigen::Index first = 0; first < rows.rows(); first += kRowsAtOnce) {
    const Eigen::Index count = std::min(kRowsAtOnce, rows.rows() - first);
    for (Eigen::Index other = first; other < rows.rows(); other += kRowsAtOnce) {
      check();
      const Eigen::Index others = std::min(kRowsAtOnce, rows.rows() - other);
      const Directions cosines =
          rows.middleRows(first, count) * rows.middleRows(other, others).transpose();
      for (Eigen::Index i = 0; i < count; ++i) {
        for (Eigen::Index j = 0; j < others; ++j) {
          if (cosines(i, j) < similarity || other + j <= first + i) continue;
          groups.join(static_cast<std::size_t>(first + i), static_cast<std::size_t>(other + j));
        }
      }
    }
  }
}

// Whether a scene is most of one class, or has several. `counts`: its pictures of each class;
// `class_sizes`: all pictures of each.
bool is_fixed_scene(const std::map<std::size_t, std::size_t>& counts,
                    const std::vector<std::size_t>& class_sizes) {
  std::size_t all = 0;
  std::size_t most = 0;
  for (const auto& [index, count] : counts) {
    if (static_cast<double>(count) > kMostOfClass * static_cast<double>(class_sizes[index])) {
      return true;
    }
    all += count;
    most = std::max(most, count);
  }
  return static_cast<double>(all - most) >= kFewOfOthers * static_cast<double>(all);
}

}  // namespace

float near_copy_similarity(const TrainingSet& set) {
  if (set.views < 2 || set.pictures() == 0) return 2;
  std::vector<float> cosines;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    cosines.push_back(
        dot(set.embeddings[set.row(i)], set.embeddings[set.row(i, 1)], set.embeddings.width()));
  }
  const auto middle = cosines.begin() + static_cast<std::ptrdiff_t>(cosines.size() / 2);
  std::nth_element(cosines.begin(), middle, cosines.end());
  return 1 - kChanges * (1 - *middle);
}

Scenes find_scenes(const TrainingSet& set, const std::function<void()>& check) {
  const float similarity = near_copy_similarity(set);
  if (similarity > 1) return single_scenes(set.pictures());
  Groups groups(set.pictures());
  join_alike(first_views(set), similarity, groups, check);
  Scenes scenes;
  std::map<std::size_t, std::size_t> numbers;
  std::vector<std::map<std::size_t, std::size_t>> counts;
  std::vector<std::size_t> class_sizes(set.classes + 1);
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    const std::size_t scene = numbers.emplace(groups.find(i), numbers.size()).first->second;
    counts.resize(numbers.size());
    scenes.sizes.resize(numbers.size());
    scenes.scene_of.push_back(scene);
    ++scenes.sizes[scene];
    ++counts[scene][set.picture_classes[i]];
    ++class_sizes[set.picture_classes[i]];
  }
  for (const auto& entry : counts) {
    scenes.fixed.push_back(is_fixed_scene(entry, class_sizes));
  }
  return scenes;
}

Scenes single_scenes(std::size_t pictures) {
  Scenes scenes;
  scenes.scene_of.resize(pictures);
  std::iota(scenes.scene_of.begin(), scenes.scene_of.end(), 0);
  scenes.sizes.assign(pictures, 1);
  scenes.fixed.assign(pictures, false);
  return scenes;
}

}  // namespace lookout

#include "pipeline/training/folds.h"

#include <map>
#include <random>
#include <utility>

namespace lookout {
namespace {

// Pictures in their order, as units that stay together.
class FoldBlocks {
 public:
  // `alone`: the picture is a unit, whatever its scene.
  void add(std::size_t picture, std::size_t scene, bool alone) {
    ++pictures_;
    if (alone) {
      units_.push_back({picture});
      return;
    }
    const auto [unit, is_new] = unit_of_scene_.emplace(scene, units_.size());
    if (is_new) units_.emplace_back();
    units_[unit->second].push_back(picture);
  }

  // Each unit goes to the fold in whose fifth of the pictures its middle lies.
  void split(std::vector<std::size_t>& folds) const {
    std::size_t before = 0;
    for (const std::vector<std::size_t>& unit : units_) {
      const std::size_t middle = 2 * before + unit.size() - 1;
      for (const std::size_t picture : unit) folds[picture] = middle * kFolds / (2 * pictures_);
      before += unit.size();
    }
  }

 private:
  std::vector<std::vector<std::size_t>> units_;
  std::map<std::size_t, std::size_t> unit_of_scene_;
  std::size_t pictures_ = 0;
};

}  // namespace

// std::shuffle gives other orders with other standard libraries.
std::vector<std::size_t> shuffled(std::vector<std::size_t> pictures, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::size_t i = pictures.size(); i > 1; --i)
    std::swap(pictures[i - 1], pictures[random() % i]);
  return pictures;
}

std::vector<std::size_t> make_folds(const std::vector<std::size_t>& order,
                                    const std::vector<std::size_t>& classes, const Scenes& scenes) {
  using Part = std::pair<std::size_t, std::size_t>;  // class and scene
  std::map<Part, std::size_t> counts;
  for (const std::size_t picture : order) ++counts[{classes[picture], scenes.scene_of[picture]}];
  // What is split into blocks: the pictures of each class in a fixed scene, and all others of it.
  std::map<Part, FoldBlocks> parts;
  for (const std::size_t picture : order) {
    const Part part{classes[picture], scenes.scene_of[picture]};
    const bool fixed = scenes.is_fixed(picture);
    const bool enough = fixed && counts[part] >= kFolds;
    parts[enough ? part : Part(part.first, scenes.sizes.size())].add(picture, part.second, fixed);
  }
  std::vector<std::size_t> folds(classes.size());
  for (const auto& [key, blocks] : parts) blocks.split(folds);
  return folds;
}

}  // namespace lookout

#include "pipeline/training/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace lookout {
namespace {

TEST(Folds, NeighborsOfAClassAreTogether) {
  std::vector<std::size_t> order(20);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> classes(20, 0);
  std::fill(classes.begin() + 10, classes.end(), 1);
  const std::vector<std::size_t> folds = make_folds(order, classes, single_scenes(classes.size()));
  EXPECT_EQ(folds, (std::vector<std::size_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4,  //
                                             0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Folds, FollowTheOrderOfTimeNotThatOfTheFiles) {
  const std::vector<std::size_t> folds =
      make_folds({4, 3, 2, 1, 0}, {0, 0, 0, 0, 0}, single_scenes(5));
  EXPECT_EQ(folds, (std::vector<std::size_t>{4, 3, 2, 1, 0}));
}

TEST(Folds, EveryFoldHasEveryClassOfFivePictures) {
  std::vector<std::size_t> order(12);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::size_t> classes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1};
  const std::vector<std::size_t> folds = make_folds(order, classes, single_scenes(classes.size()));
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t i = 0; i < folds.size(); ++i) seen.emplace(classes[i], folds[i]);
  EXPECT_EQ(seen.size(), 2 * kFolds);
}

TEST(Folds, NearCopiesAreInOneFold) {
  // Six scenes of ten pictures, in an order that mixes them.
  Scenes scenes = single_scenes(6);
  scenes.sizes.assign(6, 10);
  scenes.scene_of.clear();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 60; ++i) {
    scenes.scene_of.push_back(i / 10);
    order.push_back(i * 7 % 60);
  }
  const auto folds = make_folds(order, std::vector<std::size_t>(60, 0), scenes);
  std::set<std::size_t> all;
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(folds[i], folds[i / 10 * 10]) << i;
    all.insert(folds[i]);
  }
  EXPECT_EQ(all.size(), kFolds);
}

TEST(Folds, AFixedSceneIsSplitAsAClassIs) {
  // Ten pictures of a fixed scene by day, then five of one at night, of each class.
  Scenes scenes = single_scenes(2);
  scenes.sizes = {20, 10};
  scenes.fixed = {true, true};
  scenes.scene_of.clear();
  std::vector<std::size_t> order;
  std::vector<std::size_t> classes;
  for (std::size_t i = 0; i < 30; ++i) {
    order.push_back(i);
    classes.push_back(i / 15);
    scenes.scene_of.push_back(i % 15 < 10 ? 0 : 1);
  }
  const std::vector<std::size_t> folds = make_folds(order, classes, scenes);
  const std::vector<std::size_t> expected{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 1, 2, 3, 4,
                                          0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 1, 2, 3, 4};
  EXPECT_EQ(folds, expected);
}

TEST(Folds, SomethingOfEachClassIsAlwaysTrainedWith) {
  // Half of the class is one scene, at any place of the order.
  for (std::size_t first = 0; first <= 10; ++first) {
    Scenes scenes = single_scenes(20);
    std::vector<std::size_t> order(20);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = first; i < first + 10; ++i) scenes.scene_of[i] = first;
    scenes.sizes[first] = 10;
    const auto folds = make_folds(order, std::vector<std::size_t>(20, 0), scenes);
    EXPECT_NE(std::set<std::size_t>(folds.begin(), folds.end()).size(), 1U) << first;
  }
}

TEST(Shuffled, IsTheSameForTheSameSeed) {
  std::vector<std::size_t> pictures(50);
  std::iota(pictures.begin(), pictures.end(), 0);
  const std::vector<std::size_t> once = shuffled(pictures, 1);
  EXPECT_EQ(once, shuffled(pictures, 1));
  EXPECT_NE(once, shuffled(pictures, 2));
  std::vector<std::size_t> sorted = once;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, pictures);
}

}  // namespace
}  // namespace lookout

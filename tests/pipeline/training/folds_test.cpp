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
  const std::vector<std::size_t> folds = make_folds(order, classes);
  EXPECT_EQ(folds, (std::vector<std::size_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4,  //
                                             0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Folds, FollowTheOrderOfTimeNotThatOfTheFiles) {
  const std::vector<std::size_t> folds = make_folds({4, 3, 2, 1, 0}, {0, 0, 0, 0, 0});
  EXPECT_EQ(folds, (std::vector<std::size_t>{4, 3, 2, 1, 0}));
}

TEST(Folds, EveryFoldHasEveryClassOfFivePictures) {
  std::vector<std::size_t> order(12);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::size_t> classes{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1};
  const std::vector<std::size_t> folds = make_folds(order, classes);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t i = 0; i < folds.size(); ++i) seen.emplace(classes[i], folds[i]);
  EXPECT_EQ(seen.size(), 2 * kFolds);
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

#include "pipeline/training/ood_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "pipeline/training/cross_validation.h"
#include "pipeline/training/folds.h"

namespace lookout {
namespace {

constexpr std::size_t kClasses = 200;  // of the base
constexpr std::size_t kWidth = 64;

TEST(Profile, KeepsWhatStandsOutWhateverTheScale) {
  const std::vector<float> scores{0, 0, 0, 0, 0, 0, 0, 8};
  const std::vector<float> profile = profile_of(scores);
  // The mean is 1 and the deviation sqrt(7).
  EXPECT_NEAR(profile[7], 7 / std::sqrt(7.0) - 1, 1e-5);
  EXPECT_EQ(std::count(profile.begin(), profile.end(), 0.0F), 7);
  std::vector<float> changed = scores;
  for (float& score : changed) score = 3 * score - 5;
  EXPECT_NEAR(profile_of(changed)[7], profile[7], 1e-5);
}

TEST(Profile, OfEqualScoresIsZero) {
  EXPECT_EQ(profile_of({2, 2, 2}), (std::vector<float>{0, 0, 0}));
}

// A base: a direction for each class.
Embeddings make_rows() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1);
  Embeddings rows;
  for (std::size_t c = 0; c < kClasses; ++c) {
    std::vector<float> row(kWidth);
    for (float& value : row) value = normal(random);
    rows.add(row);
  }
  return rows;
}

// The base's scores of a picture of one of its classes, in a scene that all pictures share.
std::vector<float> scores_of(const Embeddings& rows, std::size_t c, float scene, float noise,
                             std::mt19937& random) {
  std::normal_distribution<float> normal(0, noise);
  std::vector<float> embedding(kWidth);
  for (std::size_t i = 0; i < kWidth; ++i) {
    embedding[i] = rows[c][i] + scene * rows[kClasses - 1][i] + normal(random);
  }
  std::vector<float> scores(kClasses);
  for (std::size_t i = 0; i < kClasses; ++i) scores[i] = dot(rows[i], embedding.data(), kWidth);
  return scores;
}

// Two classes: `kinds` classes of the base each.
TrainingSet make_profiles(const Embeddings& rows, std::size_t kinds, float scene, float noise) {
  TrainingSet set;
  set.classes = 2;
  std::mt19937 random(5);
  for (std::size_t i = 0; i < 80; ++i) {
    const std::size_t index = i / 40;
    const std::vector<float> scores =
        scores_of(rows, index * kinds + i % kinds, scene, noise, random);
    set.embeddings.add(scores);
    set.profiles.add(profile_of(scores));
    set.picture_classes.push_back(index);
  }
  set.foreign = foreign_profiles(rows, set.profiles);
  return set;
}

TrainedModel trained(const TrainingSet& set) {
  std::vector<std::size_t> order(set.pictures());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const Validation validation = cross_validate(
      set, make_folds(order, set.picture_classes, single_scenes(set.pictures())), [](double) {});
  return train(set, validation);
}

std::size_t unknown_among_others(const TrainedModel& model, const Embeddings& rows,
                                 std::size_t kinds, float noise) {
  std::mt19937 random(7);
  Embeddings profiles;
  for (std::size_t i = 0; i < 100; ++i) {
    profiles.add(profile_of(scores_of(rows, 2 * kinds + i, 0, noise, random)));
  }
  return count_unknown(model.detector, profiles);
}

TEST(ForeignProfiles, LeaveOutTheClassesOfTheTraining) {
  const Embeddings rows = make_rows();
  const TrainingSet set = make_profiles(rows, 10, 0, 0.01F);
  EXPECT_EQ(set.foreign.size(), kClasses - 20);
  EXPECT_EQ(set.foreign.width(), kClasses);
  EXPECT_EQ(std::max_element(set.foreign[0], set.foreign[0] + kClasses) - set.foreign[0], 20);
}

TEST(Unknown, IsEverythingForeignToAFixedScene) {
  const Embeddings rows = make_rows();
  const TrainingSet set = make_profiles(rows, 1, 2, 0.01F);
  const TrainedModel model = trained(set);
  EXPECT_TRUE(model.detector.of_profiles);
  EXPECT_EQ(count_unknown(model.detector, set.profiles), 0U);
  EXPECT_EQ(count_unknown(model.detector, set.foreign), set.foreign.size());
  EXPECT_EQ(unknown_among_others(model, rows, 1, 0.01F), 100U);
}

TEST(Unknown, IsMostOfWhatIsForeignToVariedPictures) {
  const Embeddings rows = make_rows();
  const TrainingSet set = make_profiles(rows, 5, 0, 0.06F);
  const TrainedModel model = trained(set);
  EXPECT_LE(count_unknown(model.detector, set.profiles), set.pictures() / 20);
  EXPECT_GE(unknown_among_others(model, rows, 5, 0.06F), 80U);
}

TEST(Threshold, IsTheLowerBoundWhenItRecognisesEnough) {
  const std::vector<float> own{0.90F, 0.91F, 0.92F, 0.93F, 0.94F};
  const auto without = choose_threshold(own, own, {});
  const auto with = choose_threshold(own, own, {0.1F, 0.2F, 0.3F});
  EXPECT_EQ(with.threshold, without.threshold);
  EXPECT_LT(with.threshold, 0.9F);
  EXPECT_GT(with.threshold, 0.8F);
}

TEST(Threshold, RisesToRecogniseForeignScenesButNoHigherThanAFewOwn) {
  std::vector<float> own;
  for (int i = 0; i <= 100; ++i) own.push_back(0.2F + 0.004F * static_cast<float>(i));
  const float lowest = choose_threshold(own, own, {}).threshold;
  std::vector<float> foreign(100, lowest + 0.05F);
  EXPECT_FLOAT_EQ(choose_threshold(own, own, foreign).threshold, lowest + 0.05F);
  foreign.assign(100, 0.5F);
  EXPECT_NEAR(choose_threshold(own, own, foreign).threshold, 0.22F, 1e-3);
}

}  // namespace
}  // namespace lookout

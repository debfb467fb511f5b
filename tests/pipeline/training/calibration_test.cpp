#include "pipeline/training/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lookout {
namespace {

TEST(WilsonInterval, IsThatOfTheLiterature) {
  const auto [low, high] = wilson_interval(234, 244);
  EXPECT_NEAR(low, 0.9263, 5e-4);
  EXPECT_NEAR(high, 0.9776, 5e-4);
}

TEST(WilsonInterval, StaysBetweenNoneAndAll) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
  EXPECT_NEAR(wilson_interval(0, 10).low, 0, 1e-12);
  EXPECT_NEAR(wilson_interval(0, 10).high, 0.2775, 5e-4);
  EXPECT_NEAR(wilson_interval(10, 10).high, 1, 1e-12);
}

TEST(Calibration, TheErrorIsTheDistanceBetweenScoreAndAccuracy) {
  EXPECT_EQ(calibration_of({}).error, std::nullopt);
  const auto error = [](const std::vector<ScoredPicture>& pictures) {
    return calibration_of(pictures).error.value();
  };
  EXPECT_NEAR(error({{0.75F, true}, {0.75F, true}, {0.75F, true}, {0.75F, false}}), 0, 1e-6);
  EXPECT_NEAR(error({{0.9F, false}, {0.2F, true}}), (0.9 + 0.8) / 2, 1e-6);
  EXPECT_NEAR(error({{1.0F, true}}), 0, 1e-6) << "the last bin has its end";
}

TEST(MeanInterval, IsThatOfTheShareForOneAndNarrowerForMore) {
  const auto [low, high] = share_interval(0.9, 50);
  EXPECT_NEAR(mean_interval({{0.9, 50}}).low, low, 1e-12);
  EXPECT_NEAR(mean_interval({{0.9, 50}}).high, high, 1e-12);
  const auto two = mean_interval({{0.9, 50}, {0.9, 50}});
  EXPECT_NEAR(0.9 - two.low, (0.9 - low) / std::sqrt(2), 1e-12);
  // A rare class makes it wide.
  const auto rare = mean_interval({{0.98, 100}, {0.25, 8}});
  EXPECT_LT(rare.low, 0.55);
  EXPECT_GT(rare.high, 0.75);
  EXPECT_EQ(mean_interval({}).high, 1);
}

TEST(Calibration, TheTemperatureMakesScoresAsSureAsTheyAreRight) {
  // Always sure of class 0 by four to one in odds, and right in four of five cases.
  std::vector<std::vector<float>> logits(100, {5, 0});
  std::vector<std::size_t> classes(100, 0);
  for (std::size_t i = 0; i < 20; ++i) classes[i] = 1;
  const std::vector<float> weights(100, 1);
  const float temperature = fit_temperature(logits, classes, weights);
  EXPECT_NEAR(probabilities(logits[0], temperature)[0], 0.8, 0.02);
  EXPECT_LT(log_loss(logits, classes, weights, temperature), log_loss(logits, classes, weights, 1));
}

TEST(Calibration, FewPicturesThatAreAllRightMakeNoModelCertain) {
  std::vector<std::vector<float>> logits;
  std::vector<std::size_t> classes;
  for (std::size_t i = 0; i < 80; ++i) {
    classes.push_back(i % 2);
    logits.push_back(i % 2 == 0 ? std::vector<float>{4, 0} : std::vector<float>{0, 4});
  }
  const float temperature = fit_temperature(logits, classes, std::vector<float>(80, 1));
  EXPECT_NEAR(probabilities(logits[0], temperature)[0], 41.0 / 42, 0.003);
}

}  // namespace
}  // namespace lookout

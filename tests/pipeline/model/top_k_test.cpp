#include "pipeline/model/top_k.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

const std::vector<std::string> kLetters{"a", "b", "c", "d"};

void best(const std::vector<float>& logits, std::size_t k, float threshold,
          std::vector<Prediction>& top) {
  std::vector<float> scores;
  softmax(logits, scores);
  top_k(logits, scores, kLetters, k, threshold, top);
}

TEST(TopK, SoftmaxOfTheBestInOrder) {
  std::vector<Prediction> top;
  best({0, std::log(2.0F), std::log(4.0F), std::log(1.0F)}, 3, 0, top);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].label, "c");
  EXPECT_NEAR(top[0].score, 0.5, 1e-6);
  EXPECT_EQ(top[1].label, "b");
  EXPECT_NEAR(top[1].score, 0.25, 1e-6);
  EXPECT_EQ(top[2].index, 0U) << "equal scores are ordered by index";
}

TEST(TopK, KMayExceedTheNumberOfLabels) {
  std::vector<Prediction> top;
  best({1, 2, 3, 4}, 10, 0, top);
  EXPECT_EQ(top.size(), 4U);
}

TEST(TopK, LeavesOutWhatIsBelowTheThreshold) {
  std::vector<Prediction> top;
  best({10, 0, 0, 0}, 4, 0.5F, top);
  ASSERT_EQ(top.size(), 1U);
  EXPECT_EQ(top[0].label, "a");
  best({0, 0, 0, 0}, 4, 0.5F, top);
  EXPECT_TRUE(top.empty());
}

TEST(TopK, AScoreOfTheThresholdIsIn) {
  std::vector<Prediction> top;
  best({0, 0}, 2, 0.5F, top);
  EXPECT_EQ(top.size(), 2U);
}

TEST(TopK, NoneIsAskedFor) {
  std::vector<Prediction> top;
  best({1, 2, 3, 4}, 0, 0, top);
  EXPECT_TRUE(top.empty());
}

TEST(TopK, LargeLogitsDoNotOverflow) {
  std::vector<Prediction> top;
  best({3e38F, -3e38F, 0, 0}, 1, 0, top);
  EXPECT_EQ(top[0].index, 0U);
  EXPECT_FLOAT_EQ(top[0].score, 1);
}

TEST(Softmax, ScoresOfAllClassesAreOneTogether) {
  std::vector<float> scores;
  softmax({0, std::log(2.0F), std::log(4.0F), std::log(1.0F)}, scores);
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_NEAR(scores[0], 0.125, 1e-6);
  EXPECT_NEAR(scores[1], 0.25, 1e-6);
  EXPECT_NEAR(scores[2], 0.5, 1e-6);
  EXPECT_NEAR(scores[3], 0.125, 1e-6);
}

TEST(Softmax, RefusesLogitsThatAreNotFinite) {
  std::vector<float> scores;
  EXPECT_THROW(softmax({-std::numeric_limits<float>::infinity()}, scores), Error);
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    try {
      softmax({0, wrong, 1, 2}, scores);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    }
  }
}

TEST(AreProbabilities, NonNegativeNumbersThatAreOneTogether) {
  EXPECT_TRUE(are_probabilities({0.25F, 0, 0.75F}));
  EXPECT_TRUE(are_probabilities({0.25F, 0, 0.7504F}));
  EXPECT_FALSE(are_probabilities({0.25F, 0, 0.7F}));
  EXPECT_FALSE(are_probabilities({1.25F, -0.25F, 0}));
  EXPECT_FALSE(are_probabilities({1}));
  EXPECT_FALSE(are_probabilities({}));
}

TEST(TopK, ReusesTheListItIsGiven) {
  std::vector<Prediction> top;
  best({1, 2, 3, 4}, 2, 0, top);
  const Prediction* memory = top.data();
  best({4, 3, 2, 1}, 2, 0, top);
  EXPECT_EQ(top.data(), memory);
}

}  // namespace
}  // namespace lookout

#include "pipeline/training/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lookout {
namespace {

TEST(Fit, SeparatesWhatCanBeSeparated) {
  Embeddings embeddings;
  embeddings.add({1, 0, 0});
  embeddings.add({0, 1, 0});
  embeddings.add({0, 0, 1});
  const std::vector<std::size_t> classes{0, 1, 1};
  const std::vector<float> weights{1, 1, 0};
  const Head head = fit_head({embeddings, classes, weights, 2, 1e-3}, nullptr);
  std::vector<float> logits;
  head.apply(embeddings[0], logits);
  EXPECT_GT(logits[0], logits[1]);
  head.apply(embeddings[1], logits);
  EXPECT_LT(logits[0], logits[1]);
  EXPECT_EQ(head.weights[2], 0) << "a row without weight is left out";
  const Head again = fit_head({embeddings, classes, weights, 2, 1e-3}, nullptr);
  EXPECT_EQ(head.weights, again.weights);
}

// Of two pictures x and -x with the scores (w, -w), by symmetry, the loss is log(1 + exp(-2w)) +
// l2 w^2, whose minimum has l2 w = 1 / (1 + exp(2w)).
TEST(Fit, ReachesTheMinimum) {
  Embeddings embeddings;
  embeddings.add({1});
  embeddings.add({-1});
  const std::vector<std::size_t> classes{0, 1};
  const std::vector<float> weights{1, 1};
  const double l2 = 0.01;
  const Head head = fit_head({embeddings, classes, weights, 2, l2}, nullptr);
  const double w = head.weights[0];
  EXPECT_NEAR(head.weights[1], -w, 1e-4);
  EXPECT_NEAR(l2 * w, 1 / (1 + std::exp(2 * w)), 1e-4);
  EXPECT_NEAR(head.biases[0], 0, 1e-4);
}

// Two pictures of class 0 with the same direction weigh as one that counts twice.
TEST(Fit, AWeightCountsAsSoManyPictures) {
  Embeddings twice;
  for (const std::vector<float>& row : {std::vector<float>{1, 0.2F}, {1, 0.2F}, {0.3F, 1}}) {
    twice.add(row);
  }
  const Head expected = fit_head({twice, {0, 0, 1}, {1, 1, 1}, 2, 1e-2}, nullptr);
  Embeddings once;
  for (const std::vector<float>& row : {std::vector<float>{1, 0.2F}, {0.3F, 1}}) once.add(row);
  const Head head = fit_head({once, {0, 1}, {10, 5}, 2, 1e-2}, nullptr);
  for (std::size_t i = 0; i < head.weights.size(); ++i) {
    EXPECT_NEAR(head.weights[i], expected.weights[i], 2e-3) << i;
  }
}

TEST(Fit, EndsInTheSamePlaceFromAnotherStart) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  Embeddings embeddings;
  std::vector<std::size_t> classes;
  for (std::size_t i = 0; i < 60; ++i) {
    std::vector<float> embedding(8);
    for (float& value : embedding) value = normal(random);
    embeddings.add(embedding);
    classes.push_back(i % 3);
  }
  const std::vector<float> weights(classes.size(), 1);
  const FitOptions options{embeddings, classes, weights, 3, 1e-2};
  const Head head = fit_head(options, nullptr);
  Head start = head;
  for (float& value : start.weights) value += normal(random);
  const Head other = fit_head(options, &start);
  for (std::size_t i = 0; i < head.weights.size(); ++i) {
    EXPECT_NEAR(head.weights[i], other.weights[i], 2e-3) << i;
  }
}

}  // namespace
}  // namespace lookout

#include "pipeline/model/network_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = NetworkOutput::Numbers;

NetworkOutput floats(const std::string& name, const std::vector<std::int64_t>& dims) {
  return {name, "float16", Numbers::kFloats, dims};
}

void expect_refused(const std::vector<NetworkOutput>& outputs, std::size_t labels,
                    const std::string& why) {
  try {
    choose_scores("m.pt", outputs, labels);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("model m.pt: gives " + why));
  }
}

TEST(NetworkOutputs, TheFirstRowOfFloatsWithAsManyNumbersAsLabelsIsTheScores) {
  const NetworkOutput label{"label", "int64", Numbers::kOther, {1}};
  EXPECT_EQ(choose_scores("", {floats("", {1, 3})}, 3), 0U);
  EXPECT_EQ(choose_scores("", {label, floats("loss", {1, 3})}, 3), 1U);
  EXPECT_EQ(choose_scores("", {floats("", {1, 4}), floats("", {3}), floats("", {1, 3})}, 3), 1U);
  EXPECT_EQ(choose_scores("", {floats("a", {1, 3}), floats("logits", {1, 3})}, 3), 1U);
  EXPECT_EQ(choose_scores("", {floats("logits", {1, 4}), floats("a", {1, 3})}, 3), 1U);
}

TEST(NetworkOutputs, ARowHasAnyDimensionsOfOne) {
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{3},
                                                {1, 3},
                                                {3, 1},
                                                {1, 3, 1, 1},
                                                {1, 1, 1, 3},
                                                {1, 1, 3, 1, 1}}) {
    EXPECT_EQ(choose_scores("", {floats("", dims)}, 3), 0U);
  }
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {1}, {1, 1, 1}}) {
    EXPECT_EQ(choose_scores("", {floats("", dims)}, 1), 0U);
  }
}

TEST(NetworkOutputs, BytesAreTakenWhereThereAreNoFloats) {
  const NetworkOutput bytes{"", "uint8", Numbers::kBytes, {1, 3}};
  EXPECT_EQ(choose_scores("", {bytes}, 3), 0U);
  EXPECT_EQ(choose_scores("", {bytes, floats("", {1, 3})}, 3), 1U);
}

TEST(NetworkOutputs, WhatIsNoRowIsRefusedByWhatItIs) {
  expect_refused({floats("", {1, 3})}, 2, "3 scores, but there are 2 labels");
  expect_refused({floats("", {1, 1})}, 2, "one number, but there are 2 labels: a model that");
  expect_refused({floats("", {2, 2})}, 4, "a tensor of float16 [2, 2] instead of one row");
  expect_refused({floats("", {2, 3})}, 3, "a tensor of float16 [2, 3] instead of one row");
  expect_refused({{"", "int64", Numbers::kOther, {3}}}, 3, "a tensor of int64 [3] instead of");
  expect_refused({{"label", "int64", Numbers::kOther, {1}}, floats("boxes", {1, 84, 100})}, 3,
                 "label int64 [1], boxes float16 [1, 84, 100] instead of one row");
}

TEST(NetworkOutputs, ScoresThatAreNoNumbersAreRefused) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_NO_THROW(check_scores("", {0, -kInfinity, 5}));
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
    EXPECT_THROW(check_scores("", {0, wrong}), Error);
  }
  EXPECT_THROW(check_scores("", {-kInfinity, -kInfinity}), Error);
}

TEST(NetworkOutputs, OneNumberHasAnOpposite) {
  ModelSpec spec;
  spec.labels = {"fire"};
  spec.class_ids = {"n1"};
  add_opposite(spec);
  EXPECT_THAT(spec.labels, ElementsAre("fire", "not fire"));
  EXPECT_THAT(spec.class_ids, ElementsAre("n1", "not n1"));
  for (const auto& [output, opposite] : {std::pair{ModelOutput::kLogits, 0.0F},
                                         {ModelOutput::kProbabilities, 0.75F},
                                         {ModelOutput::kSigmoid, 0.75F}}) {
    spec.output = output;
    std::vector<float> scores{0.25F};
    add_opposite(spec, scores);
    EXPECT_THAT(scores, ElementsAre(0.25F, opposite));
  }
  ModelSpec two;
  two.labels = {"a", "b"};
  add_opposite(two);
  EXPECT_THAT(two.labels, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace lookout

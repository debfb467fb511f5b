#include "pipeline/model/warm_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pipeline/core/error.h"
#include "pipeline/model/top_k.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

// From the means of an image's channels to what a network gives.
using Head = std::function<std::vector<float>(const std::vector<float>& means)>;

std::vector<float> each(std::vector<float> numbers, const std::function<float(float)>& function) {
  std::transform(numbers.begin(), numbers.end(), numbers.begin(), function);
  return numbers;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

std::vector<float> softmax_of(const std::vector<float>& means) {
  std::vector<float> scores;
  softmax(means, scores);
  return scores;
}

RunNetwork network(const Head& head) {
  return [head](const ImageTensor& image, std::vector<float>& numbers) {
    std::vector<float> means(3);
    for (std::size_t i = 0; i < image.values.size(); ++i) {
      means[i % 3] += image.values[i] * 3 / static_cast<float>(image.values.size());
    }
    numbers = head(means);
  };
}

ModelSpec small_spec(std::size_t labels = 3) {
  ModelSpec spec;
  spec.input.width = spec.input.height = 16;
  spec.labels.resize(labels, "label");
  return spec;
}

ModelOutput recognised(const Head& head, std::size_t labels = 3) {
  ModelSpec spec = small_spec(labels);
  ModelFacts facts;
  warm_up("m.pt", network(head), spec, facts);
  EXPECT_TRUE(facts.recognised_output);
  return spec.output.value();
}

std::string refusal(const Head& head, ModelOutput stated, std::size_t labels = 3) {
  ModelSpec spec = small_spec(labels);
  spec.output = stated;
  ModelFacts facts;
  try {
    warm_up("m.pt", network(head), spec, facts);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    return error.what();
  }
  EXPECT_FALSE(facts.recognised_output);
  EXPECT_EQ(spec.output, stated);
  return "";
}

const Head kLogitsHead = [](const auto& means) { return means; };
const Head kSoftmaxHead = softmax_of;
const Head kSigmoidHead = [](const auto& means) { return each(means, sigmoid); };

TEST(WarmUp, RecognisesWhatTheNumbersAre) {
  EXPECT_EQ(recognised(kLogitsHead), ModelOutput::kLogits);
  EXPECT_EQ(recognised(kSoftmaxHead), ModelOutput::kProbabilities);
  EXPECT_EQ(recognised(kSigmoidHead), ModelOutput::kSigmoid);
  const auto log_softmax = [](const auto& means) {
    return each(softmax_of(means), [](float x) { return std::log(x); });
  };
  EXPECT_EQ(recognised(log_softmax), ModelOutput::kLogits);
}

TEST(WarmUp, DoesNotTakeSmallLogitsForProbabilities) {
  // Each picture's are from 0 to 1, and some pictures' add up to 1.
  const auto small = [](const auto& means) {
    return each(means, [](float x) { return 0.333333F + x / 16; });
  };
  EXPECT_EQ(recognised(small), ModelOutput::kLogits);
  // These tell nothing.
  EXPECT_EQ(recognised([](const auto&) {
              return std::vector{0.1F, 0.2F, 0.3F};
            }),
            ModelOutput::kLogits);
}

TEST(WarmUp, ProbabilitiesOf16BitsAreRecognised) {
  const auto rounded = [](const auto& means) {
    return each(softmax_of(means), [](float x) { return std::round(x * 256) / 256; });
  };
  EXPECT_EQ(recognised(rounded), ModelOutput::kProbabilities);
}

TEST(WarmUp, OneNumberIsALogitOrAProbability) {
  const auto logit = [](const auto& means) { return std::vector{means[0]}; };
  EXPECT_EQ(recognised(logit, 1), ModelOutput::kLogits);
  const auto probability = [](const auto& means) { return std::vector{sigmoid(means[0])}; };
  EXPECT_EQ(recognised(probability, 1), ModelOutput::kProbabilities);
  ModelSpec spec = small_spec(1);
  ModelFacts facts;
  warm_up("m.pt", network(probability), spec, facts);
  EXPECT_THAT(spec.labels, ElementsAre("label", "not label"));
  for (const ModelOutput stated : {ModelOutput::kProbabilities, ModelOutput::kSigmoid}) {
    EXPECT_EQ(refusal(probability, stated, 1), "");
    EXPECT_THAT(refusal(logit, stated, 1), HasSubstr("are not all from 0 to 1"));
  }
  EXPECT_EQ(refusal(logit, ModelOutput::kLogits, 1), "");
}

TEST(WarmUp, RefusesWhatContradictsTheStatedOutput) {
  EXPECT_EQ(refusal(kLogitsHead, ModelOutput::kLogits), "");
  EXPECT_EQ(refusal(kSoftmaxHead, ModelOutput::kProbabilities), "");
  EXPECT_EQ(refusal(kSigmoidHead, ModelOutput::kSigmoid), "");
  // Bounded numbers may be logits: this is how one says so.
  EXPECT_EQ(refusal(kSigmoidHead, ModelOutput::kLogits), "");
  for (const ModelOutput stated : {ModelOutput::kProbabilities, ModelOutput::kSigmoid}) {
    EXPECT_THAT(refusal(kLogitsHead, stated),
                HasSubstr(std::string("model m.pt: its output is said to be ") + to_text(stated) +
                          ", but its numbers are not all from 0 to 1: a test image gives "));
  }
  EXPECT_THAT(refusal(kSigmoidHead, ModelOutput::kProbabilities),
              HasSubstr("its numbers do not add up to 1: those of a test image make "));
  EXPECT_THAT(refusal(kSoftmaxHead, ModelOutput::kLogits),
              HasSubstr("add up to 1 for each test image: they are probabilities"));
}

TEST(WarmUp, SeesDifferentPicturesInTheOrderOfTheInput) {
  std::vector<std::vector<float>> seen;
  const auto keep = [&](const auto& means) {
    seen.push_back(means);
    return means;
  };
  ModelSpec spec = small_spec();
  spec.input.mean = {0, 0, 0};
  spec.input.std = {1, 1, 1};
  spec.input.channel_order = ChannelOrder::kBgr;
  ModelFacts facts;
  warm_up("", network(keep), spec, facts);
  EXPECT_THAT(seen, testing::Contains(ElementsAre(0, 0, 1))) << "red";
  EXPECT_THAT(seen.back(), ElementsAre(0, 0, 0));
}

TEST(WarmUp, LeavesOutImagesThatAreNoPictures) {
  // Divides by the deviation, as networks do that normalise each picture.
  const auto normalises = [](const ImageTensor& image, std::vector<float>& numbers) {
    const auto [least, most] = std::minmax_element(image.values.begin(), image.values.end());
    if (*least == *most) throw Error(ErrorKind::kBadData, "not finite");
    numbers = {*least, *most, 0};
  };
  ModelSpec spec = small_spec();
  spec.input.std = {1, 1, 1};
  ModelFacts facts;
  warm_up("", normalises, spec, facts);
  EXPECT_EQ(spec.output, ModelOutput::kLogits);
  int runs = 0;
  const auto fails = [&](const ImageTensor&, std::vector<float>&) {
    throw Error(ErrorKind::kBadData, "failure " + std::to_string(++runs));
  };
  try {
    warm_up("", fails, spec, facts);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "failure 1");
  }
}

// The runs that a network gets, each of which takes so long, and what is left of the limit.
std::pair<int, Clock::duration> runs_of(Clock::duration run) {
  Clock::time_point now;
  int runs = 0;
  const auto slow = [&](const ImageTensor&, std::vector<float>& numbers) {
    ++runs;
    now += run;
    numbers = {1, 2, 3};
  };
  ModelSpec spec = small_spec();
  ModelFacts facts;
  const WarmUp result = warm_up("", slow, spec, facts, [&] { return now; });
  EXPECT_EQ(result.last_run, run);
  return {runs, result.left};
}

TEST(WarmUp, TakesTwoSecondsOrTwoRuns) {
  EXPECT_GE(runs_of(milliseconds(30)).first, 8);
  EXPECT_EQ(runs_of(milliseconds(600)), (std::pair<int, Clock::duration>(3, milliseconds(3200))));
  EXPECT_EQ(runs_of(seconds(2)), (std::pair<int, Clock::duration>(2, seconds(1))));
  EXPECT_EQ(runs_of(seconds(18)), (std::pair<int, Clock::duration>(2, seconds(0))));
}

}  // namespace
}  // namespace lookout

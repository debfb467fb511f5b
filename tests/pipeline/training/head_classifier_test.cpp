#include "pipeline/training/head_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pipeline/core/error.h"
#include "pipeline/training/cross_validation.h"
#include "pipeline/training/shared_backbone.h"
#include "tests/support/heads.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Gives an image's first values as the embedding, and sines of the first one as base scores.
class FakeBackbone : public Backbone {
 public:
  explicit FakeBackbone(std::size_t base_classes = 0) : base_classes_(base_classes) {
    spec_.name = "small";
    spec_.input.layout = TensorLayout::kPlanar;
    facts_.recognised_output = false;
  }

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }
  int threads() const override { return 3; }
  std::size_t width() const override { return 4; }
  std::size_t base_classes() const override { return base_classes_; }

  void embed(const ImageTensor& image, const FrameContext& /*frame*/, std::vector<float>& embedding,
             std::vector<float>& base_scores) override {
    ++runs;
    embedding.assign(image.values.begin(), image.values.begin() + 4);
    base_scores.clear();
    for (std::size_t i = 0; i < base_classes_; ++i) {
      base_scores.push_back(std::sin(static_cast<float>(i) * embedding[0]));
    }
  }

  ModelSpec spec_;
  int runs = 0;

 private:
  ModelFacts facts_;
  std::size_t base_classes_;
};

ImageTensor image_of(const std::vector<float>& values) {
  ImageTensor image;
  image.values = values;
  return image;
}

HeadClassifier classifier_of(const HeadFile& head, const std::shared_ptr<Backbone>& backbone,
                             const ClassifierOptions& options = {}) {
  return {"gate.head", std::make_shared<const HeadFile>(head), backbone, options};
}

std::string problem_of_classifier(const HeadFile& head, const std::shared_ptr<Backbone>& backbone,
                                  const ClassifierOptions& options = {}) {
  try {
    classifier_of(head, backbone, options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    return error.what();
  }
}

TEST(HeadClassifier, GivesTheScoresOfTheTraining) {
  const auto backbone = std::make_shared<FakeBackbone>();
  const HeadFile head = small_head(4);
  HeadClassifier classifier = classifier_of(head, backbone);
  std::vector<float> scores;
  classifier.classify(image_of({0.5F, -2, 1, 3}), {}, scores);
  Embeddings direction;
  direction.add({0.5F, -2, 1, 3});
  const std::vector<float> expected = scores_of(head.model, direction[0], direction[0]);
  ASSERT_EQ(scores.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(scores[i], expected[i], 1e-6);
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), 1, 1e-6);
}

TEST(HeadClassifier, ComparesProfilesOfABaseOfManyClasses) {
  const auto backbone = std::make_shared<FakeBackbone>(120);
  HeadClassifier classifier = classifier_of(small_head(4, 120), backbone);
  std::vector<float> near;
  classifier.classify(image_of({2, 1, 1, 1}), {}, near);
  std::vector<float> far;
  classifier.classify(image_of({0.01F, 1, 1, 1}), {}, far);
  EXPECT_GT(far.back(), near.back());
}

TEST(HeadClassifier, IsDescribedByItsHeadAndItsBase) {
  const auto backbone = std::make_shared<FakeBackbone>();
  backbone->spec_.input.flip_x = true;
  const HeadClassifier classifier = classifier_of(small_head(4), backbone);
  EXPECT_EQ(classifier.spec().name, "gate");
  EXPECT_THAT(classifier.spec().labels, ElementsAre("open", "closed", "unknown"));
  EXPECT_EQ(classifier.spec().unknown, 2U);
  EXPECT_EQ(classifier.spec().output, ModelOutput::kProbabilities);
  EXPECT_EQ(classifier.spec().input.resize, ResizeMode::kStretch);
  EXPECT_EQ(classifier.spec().input.layout, TensorLayout::kPlanar);
  EXPECT_TRUE(classifier.spec().input.flip_x);
  EXPECT_EQ(classifier.threads(), 3);
}

TEST(HeadClassifier, SharesItsBackbone) {
  const auto backbone = std::make_shared<FakeBackbone>();
  HeadClassifier first = classifier_of(small_head(4), backbone);
  HeadFile other = small_head(4);
  other.model.head.biases = {9, 0};
  HeadClassifier second = classifier_of(other, backbone);
  EXPECT_EQ(backbone->runs, 0) << "another thread may use it";
  std::vector<float> embedding;
  std::vector<float> base_scores;
  backbone->embed(image_of({1, 2, 3, 4}), {}, embedding, base_scores);
  std::vector<float> scores;
  first.score(embedding, base_scores, scores);
  std::vector<float> others;
  second.score(embedding, base_scores, others);
  EXPECT_GT(others[0], scores[0]);
  EXPECT_EQ(backbone->runs, 1);
}

TEST(SharedBackbone, ComputesAnImageOfAFrameOnce) {
  const auto base = std::make_shared<FakeBackbone>(120);
  SharedBackbone shared(base);
  std::vector<float> embedding;
  std::vector<float> base_scores;
  const auto embed = [&](const std::vector<float>& image, std::uint64_t frame) {
    shared.embed(image_of(image), {frame, nullptr}, embedding, base_scores);
  };
  embed({1, 2, 3, 4}, 7);
  const std::vector<float> scores_before = base_scores;
  embedding.clear();
  base_scores.clear();
  embed({1, 2, 3, 4}, 7);
  EXPECT_EQ(base->runs, 1);
  EXPECT_THAT(embedding, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(base_scores, scores_before);
  embed({1, 2, 3, 5}, 7);
  EXPECT_EQ(base->runs, 2) << "another region";
  EXPECT_THAT(embedding, ElementsAre(1, 2, 3, 5));
  embed({1, 2, 3, 5}, 8);
  EXPECT_EQ(base->runs, 3) << "another frame";
}

TEST(HeadClassifier, TakesOtherLabels) {
  const auto backbone = std::make_shared<FakeBackbone>();
  ClassifierOptions options;
  options.labels = {"offen", "zu", "unbekannt"};
  EXPECT_EQ(classifier_of(small_head(4), backbone, options).spec().labels, options.labels);
  options.labels = {"offen", "zu"};
  EXPECT_THAT(problem_of_classifier(small_head(4), backbone, options),
              HasSubstr("model gate.head: gives 3 scores, but there are 2 labels"));
}

TEST(HeadClassifier, RefusesABaseThatGivesOtherNumbers) {
  for (const HeadFile& head : {small_head(5), small_head(4, 120)}) {
    EXPECT_THAT(problem_of_classifier(head, std::make_shared<FakeBackbone>()),
                HasSubstr("does not fit its base small"));
  }
}

TEST(HeadClassifier, RefusesAnotherOutput) {
  ClassifierOptions options;
  options.stated.output = ModelOutput::kLogits;
  EXPECT_THAT(problem_of_classifier(small_head(4), std::make_shared<FakeBackbone>(), options),
              HasSubstr("a head gives probabilities"));
}

TEST(HeadClassifier, HasItsBaseLoadedForItsInput) {
  HeadFile head = small_head(4);
  ClassifierOptions options;
  options.labels = {"a", "b", "c"};
  const ClassifierOptions as_trained = base_options(head, options);
  EXPECT_EQ(as_trained.stated.size->width, 8);
  EXPECT_EQ((*as_trained.stated.normalisation.mean)[0], 0.485F);
  EXPECT_FALSE(as_trained.labels);
  options.stated.size = {16, 12};
  EXPECT_EQ(base_options(head, options).stated.size->height, 12);
}

TEST(HeadClassifier, RefusesScoresThatAreNotFinite) {
  HeadFile head = small_head(4);
  head.model.head.weights.assign(8, 3e38F);
  HeadClassifier classifier = classifier_of(head, std::make_shared<FakeBackbone>());
  std::vector<float> scores;
  EXPECT_THROW(classifier.classify(image_of({1, 1, 1, 1}), {}, scores), Error);
}

}  // namespace
}  // namespace lookout

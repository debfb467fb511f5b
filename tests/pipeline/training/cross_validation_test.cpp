#include "pipeline/training/cross_validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "pipeline/training/folds.h"

namespace lookout {
namespace {

// Pictures of each class lie around a direction of its own.
TrainingSet make_set(std::size_t classes, std::size_t pictures, std::size_t counter_examples,
                     float noise) {
  TrainingSet set;
  set.classes = classes;
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, noise);
  const auto add = [&](std::size_t index) {
    std::vector<float> embedding(classes + 3);
    for (float& value : embedding) value = normal(random);
    embedding[index] += 1;
    set.embeddings.add(embedding);
    set.picture_classes.push_back(index);
  };
  for (std::size_t index = 0; index < classes; ++index) {
    for (std::size_t i = 0; i < pictures; ++i) add(index);
  }
  for (std::size_t i = 0; i < counter_examples; ++i) add(classes);
  return set;
}

Validation validate(const TrainingSet& set) {
  std::vector<std::size_t> order(set.pictures());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return cross_validate(set, make_folds(order, set.picture_classes, single_scenes(set.pictures())),
                        [](double) {});
}

TEST(CrossValidation, KnowsClassesThatDiffer) {
  const TrainingSet set = make_set(3, 40, 0, 0.1F);
  const Validation validation = validate(set);
  std::size_t right = 0;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    const ValidatedPicture& picture = validation.pictures[i];
    ASSERT_EQ(picture.scores.size(), 4U) << "and unknown";
    float sum = 0;
    for (const float score : picture.scores) sum += score;
    EXPECT_NEAR(sum, 1, 1e-5);
    if (picture.predicted == set.picture_classes[i]) ++right;
  }
  EXPECT_GE(right, set.pictures() * 95 / 100);
  EXPECT_LE(validation.error_after, validation.error_before + 0.05);
}

// The share of pictures whose class has a better score than the other classes.
double accuracy(const TrainingSet& set, const Validation& validation) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    const auto scores = validation.pictures[i].scores.begin();
    const auto best = std::max_element(scores, scores + static_cast<std::ptrdiff_t>(set.classes));
    if (best - scores == static_cast<std::ptrdiff_t>(set.picture_classes[i])) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(set.pictures());
}

// Ten scenes of each class, each seen ten times in a row; no scene tells anything of another.
TEST(CrossValidation, BlocksOfTimeShowThatACopyIsRecognizedAndNotItsClass) {
  constexpr std::size_t kScenes = 20;
  constexpr std::size_t kTimes = 10;
  TrainingSet set;
  set.classes = 2;
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.02F);
  for (std::size_t i = 0; i < kScenes * kTimes; ++i) {
    std::vector<float> embedding(kScenes);
    for (float& value : embedding) value = normal(random);
    embedding[i / kTimes] += 1;
    set.embeddings.add(embedding);
    set.picture_classes.push_back(i / kTimes / (kScenes / 2));
  }
  std::vector<std::size_t> order(set.pictures());
  std::iota(order.begin(), order.end(), 0);
  const auto accuracy_in = [&](const std::vector<std::size_t>& in_order) {
    const auto folds = make_folds(in_order, set.picture_classes, single_scenes(set.pictures()));
    return accuracy(set, cross_validate(set, folds, [](double) {}));
  };
  EXPECT_GE(accuracy_in(shuffled(order, 1)), 0.95);
  EXPECT_LE(accuracy_in(order), 0.75);
}

// A hundred pictures of a class and eight of another that is close to it.
TEST(CrossValidation, ARareClassIsFoundWhenClassesWeighTheSame) {
  TrainingSet set;
  set.classes = 2;
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.35F);
  for (std::size_t i = 0; i < 108; ++i) {
    std::vector<float> embedding(6);
    for (float& value : embedding) value = normal(random);
    embedding[0] += 1;
    embedding[1] += i < 100 ? -0.3F : 0.3F;
    set.embeddings.add(embedding);
    set.picture_classes.push_back(i < 100 ? 0 : 1);
  }
  const auto found = [&set] {
    const Validation validation = validate(set);
    std::size_t count = 0;
    for (std::size_t i = 100; i < 108; ++i) {
      const std::vector<float>& scores = validation.pictures[i].scores;
      if (scores[1] > scores[0]) ++count;
    }
    return count;
  };
  const std::size_t equal = found();
  set.equal_classes = false;
  EXPECT_GT(equal, found());
  EXPECT_GE(equal, 5U);
}

TEST(CrossValidation, RefusesAtMostFivePercentOfTheClasses) {
  for (const float noise : {0.02F, 0.2F, 0.5F}) {
    const TrainingSet set = make_set(2, 60, 0, noise);
    const Validation validation = validate(set);
    std::size_t refused = 0;
    for (const ValidatedPicture& picture : validation.pictures) {
      if (picture.predicted == set.classes) ++refused;
    }
    EXPECT_LE(refused, set.pictures() / 20) << noise;
  }
}

TEST(CrossValidation, ForOnePictureThatIsLikeNoOtherNothingElseBecomesKnown) {
  const TrainingSet similar = make_set(2, 60, 0, 0.02F);
  TrainingSet set;
  set.classes = similar.classes;
  set.picture_classes = similar.picture_classes;
  set.embeddings.add({0, 0, 0, 0, 1});
  for (std::size_t i = 1; i < similar.pictures(); ++i) {
    const float* embedding = similar.embeddings[i];
    set.embeddings.add(std::vector<float>(embedding, embedding + similar.embeddings.width()));
  }
  const Validation validation = validate(set);
  EXPECT_EQ(validation.pictures[0].predicted, set.classes);
  EXPECT_GT(validation.threshold, 0.5F);
}

TEST(CrossValidation, OfPicturesThatAreAllTheSameAnyOtherIsUnknown) {
  const Validation validation = validate(make_set(2, 20, 0, 0));
  EXPECT_GT(validation.threshold, 0.99);
  EXPECT_LT(validation.threshold, 1);
}

TEST(CrossValidation, TheThresholdAllowsForEveryViewOfAPicture) {
  const TrainingSet alone = make_set(2, 20, 0, 0.01F);
  TrainingSet with_views;
  with_views.classes = alone.classes;
  with_views.views = 2;
  with_views.picture_classes = alone.picture_classes;
  for (std::size_t i = 0; i < alone.pictures(); ++i) {
    std::vector<float> embedding(alone.embeddings[i],
                                 alone.embeddings[i] + alone.embeddings.width());
    with_views.embeddings.add(embedding);
    embedding.back() += 0.5F;  // in another light
    with_views.embeddings.add(embedding);
  }
  const float threshold = validate(alone).threshold;
  EXPECT_LT(validate(with_views).threshold, threshold - 0.05F);
  EXPECT_GT(threshold, 0.9F) << "no lower than it has to be";
}

// Profiles are wider than embeddings.
TEST(CrossValidation, APictureOfAnotherSetIsComparedByItsProfile) {
  TrainingSet set = make_set(2, 20, 0, 0.05F);
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    std::vector<float> profile(200);
    profile[set.picture_classes[i]] = 1;
    profile[2 + i] = 0.1F;
    set.profiles.add(profile);
  }
  const TrainedModel model = train(set, validate(set));
  for (std::size_t i = 0; i < set.pictures(); i += 7) {
    const std::vector<float> scores = scores_of(model, set, i);
    EXPECT_GT(scores[set.picture_classes[i]], 0.5F);
  }
  std::vector<float> foreign(200);
  foreign[199] = 1;
  TrainingSet other = make_set(2, 1, 0, 0.05F);
  for (std::size_t i = 0; i < other.pictures(); ++i) other.profiles.add(foreign);
  EXPECT_GT(scores_of(model, other, 0).back(), 0.5F);
}

TEST(CrossValidation, CounterExamplesAreUnknown) {
  const TrainingSet set = make_set(2, 40, 40, 0.1F);
  const Validation validation = validate(set);
  std::size_t unknown = 0;
  for (std::size_t i = 80; i < 120; ++i) {
    if (validation.pictures[i].predicted == 2) ++unknown;
  }
  EXPECT_GE(unknown, 38U);
}

TEST(CrossValidation, TheLearningCurveEndsWithAllPicturesOfFourFolds) {
  const Validation validation = validate(make_set(2, 50, 0, 0.3F));
  std::vector<std::size_t> sizes;
  for (const LearningPoint& point : validation.curve) sizes.push_back(point.pictures);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 10, 20, 40}));
  EXPECT_LE(validation.curve.front().accuracy, validation.curve.back().accuracy);
}

TEST(CrossValidation, ReportsItsProgressUpToOne) {
  const TrainingSet set = make_set(2, 20, 0, 0.2F);
  double last = 0;
  std::vector<std::size_t> order(set.pictures());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  cross_validate(set, make_folds(order, set.picture_classes, single_scenes(set.pictures())),
                 [&last](double done) {
                   EXPECT_GT(done, last);
                   last = done;
                 });
  EXPECT_DOUBLE_EQ(last, 1);
}

TEST(CrossValidation, AProgressThatThrowsEndsIt) {
  const TrainingSet set = make_set(2, 20, 0, 0.2F);
  std::vector<std::size_t> order(set.pictures());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  EXPECT_THROW(
      cross_validate(set, make_folds(order, set.picture_classes, single_scenes(set.pictures())),
                     [](double) { throw std::runtime_error("stop"); }),
      std::runtime_error);
}

TEST(Examples, AreBoundedAndOfEveryClass) {
  const TrainingSet set = make_set(3, 200, 10, 0.1F);
  const Embeddings examples = choose_examples(set, std::vector<bool>(set.pictures(), true));
  EXPECT_EQ(examples.size(), kMaxExamples / 3 * 3);
  EXPECT_GT(examples[0][0], 0.5F);
  EXPECT_GT(examples[examples.size() - 1][2], 0.5F) << "counter-examples are none of them";
}

TEST(WithUnknown, TakesItsShareOfAllScores) {
  EXPECT_EQ(with_unknown({0.75F, 0.25F}, 2, 0), (std::vector<float>{0.75F, 0.25F, 0}));
  EXPECT_EQ(with_unknown({0.75F, 0.25F}, 2, 0.5F), (std::vector<float>{0.375F, 0.125F, 0.5F}));
  EXPECT_EQ(with_unknown({0.5F, 0.25F, 0.25F}, 2, 0), (std::vector<float>{0.5F, 0.25F, 0.25F}));
}

TEST(OodDetector, IsTheMeanOfTheNearest) {
  OodDetector detector;
  detector.neighbours = 2;
  detector.examples.add({1, 0});
  detector.examples.add({0, 1});
  detector.examples.add({-1, 0});
  const std::vector<float> direction{1, 0};
  EXPECT_FLOAT_EQ(detector.similarity(direction.data()), 0.5F);
  detector.threshold = 0.5F;
  detector.steepness = 10;
  EXPECT_FLOAT_EQ(detector.unknown(0.5F), 0.5F);
  EXPECT_LT(detector.unknown(1), 0.01F);
  EXPECT_GT(detector.unknown(0), 0.99F);
}

}  // namespace
}  // namespace lookout

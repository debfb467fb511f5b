#include "pipeline/onnx/onnx_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/core/error.h"
#include "pipeline/onnx/onnx_classifier.h"
#include "pipeline/training/cross_validation.h"
#include "pipeline/training/head_classifier.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ImageTensor image_of(float red) {
  ImageTensor image;
  image.width = image.height = 2;
  image.values = {red, red, red, red, 1, 1, 1, 1, 1, 1, 1, 1};
  return image;
}

class OnnxTrainerTest : public testing::Test {
 protected:
  ModelArchive write(const std::string& bytes) {
    directory_.write("model.onnx", bytes);
    return ModelArchive(directory_ / "model.onnx");
  }

  ModelArchive base() {
    OnnxFile file = OnnxFile::sums_of_planes().described();
    file.features = true;
    return write(file.bytes());
  }

  static Embeddings direction(Trainer& trainer, float red) {
    std::vector<float> embedding;
    std::vector<float> base_scores;
    trainer.embed(image_of(red), embedding, base_scores);
    Embeddings row;
    row.add(embedding);
    return row;
  }

  // Knows dark from red.
  static TrainedModel trained(Trainer& trainer) {
    TrainingSet set;
    set.classes = 2;
    for (const float red : {0.1F, 0.2F, 0.3F, 3.0F, 4.0F, 5.0F}) {
      std::vector<float> embedding;
      std::vector<float> base_scores;
      trainer.embed(image_of(red), embedding, base_scores);
      set.embeddings.add(embedding);
      if (!base_scores.empty()) set.profiles.add(profile_of(base_scores));
      set.picture_classes.push_back(red < 1 ? 0 : 1);
    }
    Validation validation;
    validation.l2 = 1e-3;
    validation.threshold = 0.9F;
    validation.steepness = 20;
    TrainedModel model = train(set, validation);
    model.metadata = onnx_metadata(2, 2);
    model.metadata.insert(1, R"("unknown": 2, "output": "probabilities", )");
    model.labels = "dark\nred\nunknown\n";
    model.producer_info = R"({"pictures": 6})";
    return model;
  }

  TempDir directory_;
};

TEST_F(OnnxTrainerTest, EmbedsTheFeatures) {
  const auto trainer = open_onnx_trainer(base(), {});
  std::vector<float> embedding;
  std::vector<float> base_scores;
  trainer->embed(image_of(7), embedding, base_scores);
  EXPECT_THAT(embedding, ElementsAre(7, 7, 7, 7, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(trainer->spec().name, "small");
  EXPECT_EQ(trainer->facts().library, "ONNX Runtime");
}

TEST_F(OnnxTrainerTest, RefusesABaseWithoutFeatures) {
  const ModelArchive archive = write(OnnxFile::sums_of_planes().described().bytes());
  try {
    open_onnx_trainer(archive, {});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("has no output \"features\""));
  }
}

TEST_F(OnnxTrainerTest, WritesAModelThatGivesTheScoresOfTheTraining) {
  const auto trainer = open_onnx_trainer(base(), {});
  const TrainedModel model = trained(*trainer);
  const auto classifier = std::move(open_onnx_models(write(trainer->write(model)), {}, 1).front());
  EXPECT_EQ(classifier->spec().unknown, 2U);
  EXPECT_THAT(classifier->spec().labels, ElementsAre("dark", "red", "unknown"));
  for (const float red : {0.2F, 1.0F, 4.5F, -3.0F}) {
    const Embeddings row = direction(*trainer, red);
    std::vector<float> logits;
    model.head.apply(row[0], logits);
    const double first = 1 / (1 + std::exp(static_cast<double>(logits[1] - logits[0])));
    const auto unknown =
        static_cast<double>(model.detector.unknown(model.detector.similarity(row[0])));
    std::vector<float> scores;
    classifier->classify(image_of(red), {}, scores);
    ASSERT_EQ(scores.size(), 3U);
    EXPECT_NEAR(scores[0], first * (1 - unknown), 1e-4) << red;
    EXPECT_NEAR(scores[1], (1 - first) * (1 - unknown), 1e-4) << red;
    EXPECT_NEAR(scores[2], unknown, 1e-4) << red;
  }
}

TEST_F(OnnxTrainerTest, LeavesOutTheLayerThatItReplaces) {
  const auto trainer = open_onnx_trainer(base(), {});
  const TrainedModel model = trained(*trainer);
  const ArchiveContents contents = read_contents(write(trainer->write(model)));
  const OnnxContents& onnx = contents.onnx.value();
  EXPECT_EQ(onnx.operators.count("Gemm"), 0U);
  EXPECT_EQ(onnx.operators.at("Flatten"), 1);
  ASSERT_EQ(onnx.outputs.size(), 2U);
  EXPECT_EQ(onnx.outputs[0].name, "features");
  EXPECT_EQ(onnx.outputs[1].name, "logits");
  EXPECT_EQ(contents.labels, "dark\nred\nunknown\n");
  EXPECT_EQ(contents.producer_info, R"({"pictures": 6})");
}

TEST_F(OnnxTrainerTest, WritesTheSameBytesForTheSameModel) {
  const auto trainer = open_onnx_trainer(base(), {});
  const std::string bytes = trainer->write(trained(*trainer));
  const auto again = open_onnx_trainer(base(), {});
  EXPECT_TRUE(bytes == again->write(trained(*again)));
}

TEST_F(OnnxTrainerTest, WritesTheBaseOfAnother) {
  const auto trainer = open_onnx_trainer(base(), {});
  const auto again = open_onnx_trainer(write(trainer->write(trained(*trainer))), {});
  const auto classifier =
      std::move(open_onnx_models(write(again->write(trained(*again))), {}, 1).front());
  std::vector<float> scores;
  classifier->classify(image_of(4), {}, scores);
  EXPECT_GT(scores[1], scores[0]);
}

// 120 classes.
OnnxFile many_classes() {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.features = true;
  file.weights.clear();
  for (int c = 0; c < 120; ++c) {
    std::vector<float> row(12);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<float>(std::sin(c * 12.0 + static_cast<double>(i)));
    }
    file.weights.push_back(row);
  }
  file.biases.assign(120, 0.5F);
  return file;
}

TEST_F(OnnxTrainerTest, RecognisesByProfilesOfABaseOfManyClasses) {
  const auto trainer = open_onnx_trainer(write(many_classes().bytes()), {});
  const Embeddings rows = trainer->class_rows();
  ASSERT_EQ(rows.size(), 120U);
  ASSERT_EQ(rows.width(), 12U);
  EXPECT_NEAR(rows[2][5], std::sin(29.0), 1e-5);
  const TrainedModel model = trained(*trainer);
  ASSERT_TRUE(model.detector.of_profiles);
  const ModelArchive archive = write(trainer->write(model));
  const auto classifier = std::move(open_onnx_models(archive, {}, 1).front());
  const auto again = open_onnx_trainer(archive, {});
  EXPECT_EQ(again->class_rows().size(), 120U) << "it can be the base of another";
  for (const float red : {0.2F, 1.0F, 4.5F, -3.0F}) {
    std::vector<float> embedding;
    std::vector<float> base_scores;
    trainer->embed(image_of(red), embedding, base_scores);
    Embeddings profile;
    profile.add(profile_of(base_scores));
    const float unknown = model.detector.unknown(model.detector.similarity(profile[0]));
    std::vector<float> scores;
    classifier->classify(image_of(red), {}, scores);
    ASSERT_EQ(scores.size(), 3U);
    EXPECT_NEAR(scores[2], unknown, 1e-4) << red;
    std::vector<float> same;
    again->embed(image_of(red), embedding, same);
    EXPECT_EQ(base_scores, same);
  }
}

class OnnxHead : public OnnxTrainerTest {
 protected:
  // Compares a head behind its base with the archive of the same training.
  void expect_same_scores(const ModelArchive& base) {
    const auto trainer = open_onnx_trainer(base, {});
    const TrainedModel model = trained(*trainer);
    const auto whole = std::move(open_onnx_models(write(trainer->write(model)), {}, 1).front());
    const auto head = std::make_shared<HeadFile>(
        read_head(write_head({{trainer->spec().name, base.sha256(), base.bytes().size()}, model})));
    const auto backbones = open_onnx_backbones(base, base_options(*head, {}), 2);
    ASSERT_EQ(backbones.size(), 2U);
    HeadClassifier classifier("trained.head", head, backbones[1], {});
    EXPECT_EQ(classifier.spec().labels, whole->spec().labels);
    EXPECT_EQ(classifier.spec().input.layout, whole->spec().input.layout);
    for (const float red : {0.2F, 1.0F, 4.5F, -3.0F}) {
      std::vector<float> expected;
      whole->classify(image_of(red), {}, expected);
      std::vector<float> scores;
      classifier.classify(image_of(red), {}, scores);
      ASSERT_EQ(scores.size(), expected.size());
      for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-5);
    }
  }
};

TEST_F(OnnxHead, GivesTheScoresOfTheArchive) { expect_same_scores(base()); }

TEST_F(OnnxHead, OfABaseOfManyClassesGivesTheScoresOfTheArchive) {
  expect_same_scores(write(many_classes().bytes()));
}

TEST_F(OnnxHead, NeedsABaseWithFeatures) {
  const ModelArchive archive = write(OnnxFile::sums_of_planes().described().bytes());
  EXPECT_THROW(open_onnx_backbones(archive, {}, 1), Error);
}

}  // namespace
}  // namespace lookout

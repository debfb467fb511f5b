#include "pipeline/torch/torch_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "paths.h"
#include "pipeline/core/error.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/torch/torch_classifier.h"
#include "pipeline/training/cross_validation.h"
#include "pipeline/training/head_classifier.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

using testing::HasSubstr;

template <typename Model>
ImageTensor image_of(const Model& trainer, int red) {
  const InputSpec& input = trainer.spec().input;
  const cv::Mat bgr(64, 64, CV_8UC3, cv::Scalar(40, 90, red));
  ImageTensor image;
  Preprocessor(input, {}).run(bgr, image);
  return image;
}

std::string metadata_of(std::size_t unknown) {
  std::string text = small_metadata();
  text.insert(1, "\"output\": \"probabilities\", \"unknown\": " + std::to_string(unknown) + ", ");
  return text;
}

class TorchTrainerTest : public testing::Test {
 protected:
  // A model of reddish and other pictures.
  static TrainedModel trained(Trainer& trainer) {
    TrainingSet set;
    set.classes = 2;
    for (int i = 0; i < 10; ++i) add(trainer, i < 5 ? 20 + 4 * i : 220 + 4 * i, i < 5 ? 0 : 1, set);
    Validation validation;
    validation.l2 = 1e-4;
    validation.threshold = 0.2F;
    validation.steepness = 20;
    TrainedModel model = train(set, validation);
    model.metadata = metadata_of(2);
    model.labels = "dark\nred\nunknown\n";
    model.producer_info = "{\"pictures\": 10}";
    return model;
  }

  static void add(Trainer& trainer, int red, std::size_t index, TrainingSet& set) {
    std::vector<float> embedding;
    std::vector<float> base_scores;
    trainer.embed(image_of(trainer, red), embedding, base_scores);
    set.embeddings.add(embedding);
    if (!base_scores.empty()) set.profiles.add(profile_of(base_scores));
    set.picture_classes.push_back(index);
  }

  std::string save(const std::string& bytes) const { return directory_.write("trained.pt", bytes); }

  std::string write(const std::string& body) const {
    std::string path = directory_ / "base.pt";
    write_archive(path, body, small_metadata(), kThreeLabels);
    return path;
  }

  void expect_refused(const std::string& body, const std::string& named) const {
    try {
      const auto trainer = open_torch_trainer(ModelArchive(write(body)), {});
      FAIL() << "accepted: " << body;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(named));
    }
  }

  TempDir directory_;
};

constexpr const char* kLinear =
    "return torch.softmax(torch.linear(torch.flatten(x, 1), torch.ones([3, 192])), 1)";

TEST_F(TorchTrainerTest, EmbedsWhatTheLastLayerTakes) {
  const auto trainer = open_torch_trainer(ModelArchive(write(kLinear)), {});
  ImageTensor image;
  image.width = 8;
  image.height = 8;
  for (int i = 0; i < 192; ++i) image.values.push_back(static_cast<float>(i));
  std::vector<float> embedding;
  std::vector<float> base_scores;
  trainer->embed(image, embedding, base_scores);
  ASSERT_EQ(embedding.size(), 192U);
  EXPECT_EQ(embedding[1], 3) << "the second pixel's red";
}

TEST_F(TorchTrainerTest, RefusesABaseWhoseLastLayerIsNotLinear) {
  expect_refused("return x.mean([2, 3])", "its last layer is not linear but aten::mean");
  expect_refused("return torch.softmax(x, 1)", "its last layer is not linear but missing");
}

class TrainedArchive : public TorchTrainerTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(LOOKOUT_SELFTEST)) GTEST_SKIP() << "no self-test model in models/";
  }

  static std::vector<float> classify(Classifier& classifier, const ImageTensor& image) {
    std::vector<float> scores;
    classifier.classify(image, {}, scores);
    return scores;
  }
};

TEST_F(TrainedArchive, GivesTheScoresThatWereComputedInTraining) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  TrainedModel model = trained(*trainer);
  // The metadata of the base's input.
  model.metadata = read_contents(ModelArchive(LOOKOUT_SELFTEST)).metadata;
  model.metadata.insert(1, "\"unknown\": 2, ");
  const auto output = model.metadata.find("\"logits\"");
  if (output != std::string::npos) model.metadata.replace(output, 8, "\"probabilities\"");
  const std::string path = save(trainer->write(model));
  const auto classifier = open_torch_model(ModelArchive(path), {});
  EXPECT_EQ(classifier->spec().unknown, 2U);
  for (const int red : {30, 120, 240}) {
    std::vector<float> embedding;
    std::vector<float> base_scores;
    trainer->embed(image_of(*trainer, red), embedding, base_scores);
    Embeddings direction;
    direction.add(embedding);
    std::vector<float> logits;
    model.head.apply(direction[0], logits);
    const double first = 1 / (1 + std::exp(static_cast<double>(logits[1] - logits[0])));
    const auto unknown =
        static_cast<double>(model.detector.unknown(model.detector.similarity(direction[0])));
    const std::vector<float> scores = classify(*classifier, image_of(*trainer, red));
    ASSERT_EQ(scores.size(), 3U);
    EXPECT_NEAR(scores[0], first * (1 - unknown), 1e-4) << red;
    EXPECT_NEAR(scores[2], unknown, 1e-4) << red;
  }
}

TEST_F(TrainedArchive, HasTheSameBytesForTheSameModel) {
  const auto first = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  const std::string bytes = first->write(trained(*first));
  const auto second = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  EXPECT_TRUE(bytes == second->write(trained(*second)));
}

TEST_F(TrainedArchive, CarriesWhatTheHookAttached) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  const ArchiveContents contents =
      read_contents(ModelArchive(save(trainer->write(trained(*trainer)))));
  EXPECT_EQ(contents.producer_info, "{\"pictures\": 10}");
  EXPECT_EQ(contents.labels, "dark\nred\nunknown\n");
}

TEST_F(TrainedArchive, HoldsNothingOfTheLastLayerThatItReplaces) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  const TrainedModel model = trained(*trainer);
  const ModelArchive base(LOOKOUT_SELFTEST);
  ClassifierOptions options;
  options.count_parameters = true;
  const auto before = open_torch_model(base, options);
  const auto after = open_torch_model(ModelArchive(save(trainer->write(model))), options);
  const std::size_t width = model.detector.examples.width();
  const std::size_t replaced = before->spec().labels.size() * (width + 1);
  const std::size_t added = model.head.weights.size() + model.head.biases.size() +
                            model.detector.examples.values().size();
  // And the threshold and the steepness of unknown, which are no weights.
  EXPECT_EQ(after->facts().parameters, before->facts().parameters - replaced + added);
}

TEST_F(TrainedArchive, CanBeTheBaseOfAnother) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  const auto again = open_torch_trainer(ModelArchive(save(trainer->write(trained(*trainer)))), {});
  std::vector<float> first;
  std::vector<float> second;
  std::vector<float> base_scores;
  trainer->embed(image_of(*trainer, 100), first, base_scores);
  again->embed(image_of(*trainer, 100), second, base_scores);
  EXPECT_EQ(first, second);
}

// 120 classes of an image of 8x8 pixels.
constexpr const char* kManyClasses =
    "weight = torch.sin(torch.reshape(torch.arange(120 * 192), [120, 192]))\n"
    "  return torch.linear(torch.flatten(x, 1), weight)";

TEST_F(TrainedArchive, OfABaseOfManyClassesGivesItsScores) {
  const auto trainer = open_torch_trainer(ModelArchive(write(kManyClasses)), {});
  const Embeddings rows = trainer->class_rows();
  ASSERT_EQ(rows.size(), 120U);
  ASSERT_EQ(rows.width(), 192U);
  EXPECT_NEAR(rows[1][3], std::sin(195.0), 1e-4);
}

TEST_F(TrainedArchive, OfABaseOfManyClassesRecognisesByProfiles) {
  const auto trainer = open_torch_trainer(ModelArchive(write(kManyClasses)), {});
  const TrainedModel model = trained(*trainer);
  ASSERT_TRUE(model.detector.of_profiles);
  EXPECT_EQ(model.detector.examples.width(), 120U);
  const std::string path = save(trainer->write(model));
  const auto classifier = open_torch_model(ModelArchive(path), {});
  const auto again = open_torch_trainer(ModelArchive(path), {});
  EXPECT_EQ(again->class_rows().size(), 120U) << "it can be the base of another";
  for (const int red : {30, 120, 240}) {
    std::vector<float> embedding;
    std::vector<float> base_scores;
    trainer->embed(image_of(*trainer, red), embedding, base_scores);
    Embeddings profile;
    profile.add(profile_of(base_scores));
    const float unknown = model.detector.unknown(model.detector.similarity(profile[0]));
    const std::vector<float> scores = classify(*classifier, image_of(*trainer, red));
    ASSERT_EQ(scores.size(), 3U);
    EXPECT_NEAR(scores[2], unknown, 1e-4) << red;
    std::vector<float> same;
    again->embed(image_of(*trainer, red), embedding, same);
    EXPECT_EQ(base_scores, same);
  }
}

class TrainedHead : public TrainedArchive {
 protected:
  // Compares a head behind its base with the archive of the same training.
  void expect_same_scores(const std::string& base, TrainedModel model, Trainer& trainer) const {
    const ModelArchive archive(base);
    model.metadata = metadata_like(trainer.spec());
    const auto whole = open_torch_model(ModelArchive(save(trainer.write(model))), {});
    const auto head = std::make_shared<HeadFile>(read_head(write_head(
        {{trainer.spec().name, archive.sha256(), archive.bytes().size()}, std::move(model)})));
    HeadClassifier classifier("trained.head", head,
                              open_torch_backbone(archive, base_options(*head, {})), {});
    EXPECT_EQ(classifier.spec().labels, whole->spec().labels);
    EXPECT_EQ(classifier.spec().unknown, whole->spec().unknown);
    EXPECT_EQ(classifier.spec().output, whole->spec().output);
    EXPECT_EQ(classifier.spec().input.quantization.has_value(),
              whole->spec().input.quantization.has_value());
    EXPECT_EQ(classifier.facts().activations, whole->facts().activations);
    for (const int red : {20, 70, 120, 180, 240}) {
      const ImageTensor image = image_of(classifier, red);
      const std::vector<float> expected = classify(*whole, image);
      const std::vector<float> scores = classify(classifier, image);
      ASSERT_EQ(scores.size(), expected.size());
      for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-5);
    }
  }

 private:
  static std::string metadata_like(const ModelSpec& spec) {
    std::string text = metadata_of(2);
    const auto size = [&text](const std::string& key, int value) {
      const auto at = text.find("\"" + key + "\": ") + key.size() + 4;
      text.replace(at, text.find(',', at) - at, std::to_string(value));
    };
    size("width", spec.input.width);
    size("height", spec.input.height);
    return text;
  }
};

TEST_F(TrainedHead, GivesTheScoresOfTheArchive) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  expect_same_scores(LOOKOUT_SELFTEST, trained(*trainer), *trainer);
}

TEST_F(TrainedHead, OfABaseOfManyClassesGivesTheScoresOfTheArchive) {
  const std::string base = write(kManyClasses);
  const auto trainer = open_torch_trainer(ModelArchive(base), {});
  const TrainedModel model = trained(*trainer);
  ASSERT_TRUE(model.detector.of_profiles);
  expect_same_scores(base, model, *trainer);
}

TEST_F(TrainedHead, NeedsABaseThatCanBeCut) {
  const std::string base = write("return x.mean([2, 3])");
  EXPECT_THROW(open_torch_backbone(ModelArchive(base), {}), Error);
}

TEST_F(TrainedArchive, IsRefusedWhenItIsDamaged) {
  const auto trainer = open_torch_trainer(ModelArchive(LOOKOUT_SELFTEST), {});
  std::string bytes = trainer->write(trained(*trainer));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  try {
    const auto classifier = open_torch_model(ModelArchive(save(bytes)), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("damaged"));
  }
}

}  // namespace
}  // namespace lookout

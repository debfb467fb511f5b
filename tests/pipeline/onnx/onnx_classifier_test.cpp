#include "pipeline/onnx/onnx_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "pipeline/core/error.h"
#include "pipeline/model/preprocessor.h"
#include "tests/support/onnx_file.h"
#include "tests/support/output_cases.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two by two pixels; each value is another one.
ImageTensor picture() {
  ImageTensor image;
  image.width = 2;
  image.height = 2;
  image.values = {0, 1, 2, 3, 10, 11, 12, 13, 100, 101, 102, 103};
  return image;
}

class OnnxModels : public testing::Test {
 protected:
  ModelArchive write(const OnnxFile& file) {
    directory_.write("model.onnx", file.bytes());
    return ModelArchive(directory_ / "model.onnx");
  }

  std::unique_ptr<Classifier> open(const OnnxFile& file) {
    return std::move(open_onnx_models(write(file), options_, 1).front());
  }

  static std::vector<float> classify(Classifier& classifier) {
    std::vector<float> logits;
    classifier.classify(picture(), {}, logits);
    return logits;
  }

  void expect_refused(const OnnxFile& file, const testing::Matcher<std::string>& sentence) {
    try {
      open(file);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(directory_ / "model.onnx"), sentence));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    }
  }

  TempDir directory_;
  ClassifierOptions options_;
};

TEST_F(OnnxModels, ClassifyAPlanarImage) {
  const auto model = open(OnnxFile::sums_of_planes().described());
  EXPECT_EQ(model->spec().input.layout, TensorLayout::kPlanar);
  EXPECT_THAT(classify(*model), ElementsAre(6, 46, 406));
  EXPECT_EQ(model->spec().output, ModelOutput::kLogits);
}

TEST_F(OnnxModels, ClassifyAnImageWithTheChannelsLast) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.input = {1, 2, 2, 3};
  const auto model = open(file);
  EXPECT_EQ(model->spec().input.layout, TensorLayout::kChannelsLast);
  EXPECT_THAT(classify(*model), ElementsAre(6, 46, 406));
}

TEST_F(OnnxModels, TellTheirFacts) {
  const auto model = open(OnnxFile::sums_of_planes().described());
  const ModelFacts& facts = model->facts();
  EXPECT_EQ(facts.library, "ONNX Runtime");
  EXPECT_EQ(facts.version, onnxruntime_facts().version);
  EXPECT_EQ(facts.activations, "float32");
  EXPECT_EQ(facts.kernels, "MLAS");
  EXPECT_EQ(facts.parameters, 39U);
  EXPECT_EQ(assumption_text(model->spec()), "");
  EXPECT_FALSE(facts.samples_operators);
}

TEST_F(OnnxModels, ThatEndInSoftmaxAreRecognised) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = {"Softmax"};
  const auto model = open(file);
  EXPECT_EQ(model->spec().output, ModelOutput::kProbabilities);
  EXPECT_TRUE(model->facts().recognised_output);
}

class OnnxOutputs : public OnnxModels, public testing::WithParamInterface<OutputCase> {};

TEST_P(OnnxOutputs, AreOneScoreForEachLabel) {
  const OutputCase& expected = GetParam();
  const auto model = open(expected.onnx);
  EXPECT_EQ(model->spec().output, expected.output);
  ASSERT_EQ(model->spec().labels.size(), expected.scores.size());
  ImageTensor image;
  image.width = image.height = 2;
  for (const float value : {0.25F, 0.5F, 0.75F}) image.values.insert(image.values.end(), 4, value);
  std::vector<float> scores;
  for (int frame = 0; frame < 2; ++frame) {
    model->classify(image, {}, scores);
    EXPECT_THAT(scores, testing::Pointwise(testing::FloatNear(3e-3F), expected.scores));
  }
}

std::vector<OutputCase> onnx_cases() {
  std::vector<OutputCase> cases = output_cases();
  for (const auto& [name, type] :
       {std::pair{"TakesHalf", 10}, {"TakesBfloat16", 16}, {"TakesDouble", 11}}) {
    OnnxFile file = sums_then({});
    file.input_type = type;
    cases.push_back({name, "", file});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, OnnxOutputs, testing::ValuesIn(onnx_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_F(OnnxModels, ThatTakeBytesGetThoseOfThePicture) {
  for (const bool is_signed : {false, true}) {
    OnnxFile file = OnnxFile::sums_of_planes().described();
    file.input = {1, 2, 2, 3};
    file.input_type = is_signed ? 3 : 2;
    const auto model = open(file);
    Preprocessor preprocessor(model->spec().input, {});
    ImageTensor image;
    preprocessor.run(cv::Mat(2, 2, CV_8UC3, cv::Scalar(255, 128, 1)), image);
    std::vector<float> sums;
    model->classify(image, {}, sums);
    const float less = is_signed ? 4 * 128 : 0;
    // The weights of planes add other values of pixels with their channels last.
    EXPECT_EQ(sums[0] + sums[1] + sums[2], 4 * (255 + 128 + 1) - 3 * less);
  }
}

TEST_F(OnnxModels, GiveTheirLogitsAmongOtherOutputsOfTheSameSize) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.features = true;
  EXPECT_THAT(classify(*open(file)), ElementsAre(6, 46, 406));
}

TEST_F(OnnxModels, RunWithLabelsOfAFile) {
  options_.labels = {{"a", "b", "c"}};
  const auto model = open(OnnxFile::sums_of_planes());
  EXPECT_EQ(assumption_text(model->spec()),
            "ImageNet's mean and deviation are assumed; --mean and --std say something else");
  EXPECT_THAT(classify(*model), ElementsAre(6, 46, 406));
}

TEST_F(OnnxModels, WithAnotherNumberOfLabelsAreRefused) {
  options_.labels = {{"a", "b"}};
  expect_refused(OnnxFile::sums_of_planes(), HasSubstr("gives 3 scores, but there are 2 labels"));
}

TEST_F(OnnxModels, WithScoresThatAreNoNumbersAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.weights.assign(3, std::vector<float>(12));
  file.biases = {-1, -1, -1};
  file.after = {"Log"};
  expect_refused(file, HasSubstr("gives scores that are not finite numbers"));
}

TEST_F(OnnxModels, ThatTheEngineCannotLoadAreRefused) {
  OnnxFile file = OnnxFile::sums_of_planes().described();
  file.after = {"NoSuchOperator"};
  expect_refused(file,
                 AllOf(HasSubstr("ONNX Runtime cannot load it ("), HasSubstr("NoSuchOperator")));
  file.after = {};
  file.weights[0].push_back(1);  // does not fit the input
  file.weights[1].push_back(1);
  file.weights[2].push_back(1);
  expect_refused(file, HasSubstr("model.onnx: "));
}

TEST_F(OnnxModels, WorkersShareAModelAndWorkSideBySide) {
  const auto models = open_onnx_models(write(OnnxFile::sums_of_planes().described()), {}, 3);
  ASSERT_EQ(models.size(), 3U);
  EXPECT_EQ(&models[0]->spec(), &models[2]->spec());
  std::vector<std::thread> threads;
  threads.reserve(models.size());
  for (const auto& model : models) {
    threads.emplace_back([&model] {
      for (int i = 0; i < 100; ++i) EXPECT_THAT(classify(*model), ElementsAre(6, 46, 406));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(OnnxModels, ComputeWithAsManyThreadsAsAsked) {
  options_.threads = 2;
  EXPECT_EQ(open(OnnxFile::sums_of_planes().described())->threads(), 2);
  options_.threads = ClassifierOptions::kAutoThreads;
  options_.processors = 2;
  const auto model = open(OnnxFile::sums_of_planes().described());
  EXPECT_THAT(model->threads(), testing::AnyOf(1, 2));
  EXPECT_THAT(classify(*model), ElementsAre(6, 46, 406));
}

}  // namespace
}  // namespace lookout

#include "pipeline/torch/torch_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "paths.h"
#include "pipeline/core/error.h"
#include "tests/support/captured_log.h"
#include "tests/support/output_cases.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

void expect_refused(const std::string& archive, const std::string& named,
                    ErrorKind kind = ErrorKind::kBadData) {
  try {
    const auto classifier = open_torch_model(ModelArchive(archive), {});
    FAIL() << "accepted " << archive;
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_EQ(error.kind(), kind) << sentence;
    EXPECT_NE(sentence.find(archive), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(named), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    EXPECT_LT(sentence.size(), 500U) << sentence;
  }
}

class TorchArchives : public testing::Test {
 protected:
  std::string write(const std::string& body, const std::string& metadata,
                    const std::string& labels) {
    std::string path = directory_ / "model.pt";
    write_archive(path, body, metadata, labels);
    return path;
  }

  TempDir directory_;
};

TEST_F(TorchArchives, ClassifiesAChannelsLastImage) {
  const auto classifier =
      open_torch_model(ModelArchive(write(kMeanOfChannels, small_metadata(), kThreeLabels)), {});
  ImageTensor image;
  image.width = 8;
  image.height = 8;
  for (int i = 0; i < 64; ++i) image.values.insert(image.values.end(), {0.25F, 0.5F, 0.75F});
  std::vector<float> logits;
  classifier->classify(image, {}, logits);
  EXPECT_EQ(logits, (std::vector<float>{0.25F, 0.5F, 0.75F}));
  EXPECT_EQ(classifier->spec().name, "small");
  EXPECT_EQ(classifier->facts().activations, "float32");
}

TEST_F(TorchArchives, RefusesWhatIsNoArchive) {
  const std::string path = directory_ / "model.pt";
  expect_refused(path, "no such model", ErrorKind::kNoInput);
  expect_refused(directory_.path().string(), "is not a file");
  std::ofstream(path) << "";
  expect_refused(path, "is empty");
  std::mt19937 random(1);
  std::ofstream noise(path, std::ios::binary);
  for (int i = 0; i < 100'000; ++i) noise.put(static_cast<char>(random()));
  noise.close();
  expect_refused(path, "not a TorchScript archive");
}

TEST_F(TorchArchives, RefusesTruncatedArchives) {
  if (!std::filesystem::exists(LOOKOUT_SELFTEST)) GTEST_SKIP() << "no self-test model in models/";
  const auto size = std::filesystem::file_size(LOOKOUT_SELFTEST);
  for (const double share : {0.01, 0.5, 0.9, 0.999}) {
    const std::string path = directory_ / "cut.pt";
    std::filesystem::copy_file(LOOKOUT_SELFTEST, path,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path,
                                 static_cast<std::uintmax_t>(static_cast<double>(size) * share));
    expect_refused(path, "not a TorchScript archive, or a damaged one");
  }
}

TEST_F(TorchArchives, RefusesDamagedWeights) {
  if (!std::filesystem::exists(LOOKOUT_SELFTEST)) GTEST_SKIP() << "no self-test model in models/";
  const std::string path = directory_ / "damaged.pt";
  std::filesystem::copy_file(LOOKOUT_SELFTEST, path);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(middle);
  const int before = file.get();
  file.seekp(middle);
  file.put(static_cast<char>(before ^ 1));
  file.close();
  expect_refused(path, "a damaged one (the file holds a damaged ");
}

TEST_F(TorchArchives, RefusesAnArchiveWithoutSpecOrLabels) {
  expect_refused(write(kMeanOfChannels, "", ""), "has no metadata.json: give --labels FILE");
  expect_refused(write(kMeanOfChannels, small_metadata(), ""), "has no labels.txt");
  expect_refused(write(kMeanOfChannels, "{}", kThreeLabels), "has no field \"name\"");
}

TEST_F(TorchArchives, ABareArchiveWorksWithImageNetsValuesAndLabels) {
  ClassifierOptions options;
  options.labels = {{"a", "b", "c"}};
  const auto classifier = open_torch_model(ModelArchive(write(kMeanOfChannels, "", "")), options);
  EXPECT_EQ(assumption_text(classifier->spec()),
            "ImageNet's size, mean and deviation are assumed; --input-size, --mean and --std say "
            "something else");
  EXPECT_EQ(classifier->spec().name, "model");
  EXPECT_EQ(classifier->spec().input.width, 224);
  EXPECT_FLOAT_EQ(classifier->spec().input.mean[0], 0.485F);
  EXPECT_EQ(classifier->spec().labels.size(), 3U);
}

TEST_F(TorchArchives, AModelThatEndsInSoftmaxIsRecognised) {
  const auto output = [this](const char* body) {
    return open_torch_model(ModelArchive(write(body, small_metadata(), kThreeLabels)), {})
        ->spec()
        .output;
  };
  EXPECT_EQ(output("return torch.softmax(x.mean([2, 3]), 1)"), ModelOutput::kProbabilities);
  EXPECT_EQ(output(kMeanOfChannels), ModelOutput::kLogits);
  // Probabilities of a black image alone.
  EXPECT_EQ(output("return x.mean([2, 3]) + 0.333333"), ModelOutput::kLogits);
}

// An archive whose metadata says 2x2 pixels.
std::string metadata_2x2() {
  std::string metadata = small_metadata();
  for (const std::string side : {"\"width\": ", "\"height\": "}) {
    metadata.replace(metadata.find(side) + side.size(), 1, "2");
  }
  return metadata;
}

void expect_scores(const std::string& archive, const OutputCase& expected) {
  const auto classifier = open_torch_model(ModelArchive(archive), {});
  EXPECT_EQ(classifier->spec().output, expected.output);
  ASSERT_EQ(classifier->spec().labels.size(), expected.scores.size());
  ImageTensor image;
  image.width = image.height = 2;
  for (int pixel = 0; pixel < 4; ++pixel) {
    image.values.insert(image.values.end(), {0.25F, 0.5F, 0.75F});
  }
  std::vector<float> scores;
  for (int frame = 0; frame < 2; ++frame) {
    classifier->classify(image, {}, scores);
    EXPECT_THAT(scores, testing::Pointwise(testing::FloatNear(3e-3F), expected.scores));
  }
}

class TorchOutputs : public TorchArchives, public testing::WithParamInterface<OutputCase> {};

TEST_P(TorchOutputs, AreOneScoreForEachLabel) {
  const OutputCase& expected = GetParam();
  const std::string labels = expected.scores.size() == 2 ? "red\n" : kThreeLabels;
  expect_scores(write("sums = x.sum([2, 3])\n  " + expected.torch, metadata_2x2(), labels),
                expected);
}

std::vector<OutputCase> torch_cases() {
  std::vector<OutputCase> cases = output_cases();
  const std::string fields = "boxes = torch.zeros([1, 4, 8])\n  ";
  cases.push_back({"Tuple", "return (sums, sums + 1)", {}});
  cases.push_back({"Nested", fields + "return (boxes, [sums, boxes], sums + 1)", {}});
  cases.push_back({"List", fields + "return [boxes, sums]", {}});
  cases.push_back({"Dict", fields + "return {'boxes': boxes, 'z': sums, 'a': sums + 1}", {}});
  cases.push_back({"DictWithLogits", "return {'aux': sums + 1, 'logits': sums}", {}});
  cases.push_back({"Quantized", "return torch.quantize_per_tensor(sums, 0.25, 0, 13)", {}});
  cases.push_back(
      {"Bytes", "return (sums * 51).to(0)", {}, ModelOutput::kSigmoid, {0.2F, 0.4F, 0.6F}});
  cases.push_back(
      {"ChannelsLast", "return sums.view([1, 3, 1, 1]).repeat([1, 1, 1, 2])[:, :, :, :1]", {}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, TorchOutputs, testing::ValuesIn(torch_cases()),
                         [](const auto& info) { return info.param.name; });

class TorchFloats : public TorchArchives, public testing::WithParamInterface<const char*> {};

TEST_P(TorchFloats, OfOtherSizesRunAsFloats) {
  const std::string path = directory_ / "model.pt";
  write_in_floats(path, GetParam(), /*frozen=*/false, metadata_2x2());
  expect_scores(path, {"", "", {}});
}

INSTANTIATE_TEST_SUITE_P(All, TorchFloats, testing::Values("Half", "BFloat16", "Double"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(TorchArchives, RunAsFloatsWhenTheyWereFrozenInOthers) {
  const std::string path = directory_ / "model.pt";
  for (const char* type : {"Half", "BFloat16"}) {
    write_in_floats(path, type, /*frozen=*/true, metadata_2x2());
    expect_scores(path, {"", "", {}});
  }
}

TEST_F(TorchArchives, WarnIntoTheLogOnce) {
  const CapturedLog log;
  testing::internal::CaptureStderr();
  const std::string path = directory_ / "model.pt";
  write_archive(path, "aten.warn('an odd model', 2)\n  return x.mean([2, 3])", small_metadata(),
                kThreeLabels, "x", /*operators=*/"aten");
  const auto classifier = open_torch_model(ModelArchive(path), {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::string text = log.text();
  const auto first = text.find("LibTorch warns: an odd model");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("an odd model", first + 20), std::string::npos) << text;
}

TEST_F(TorchArchives, RefusesOneNumberForSeveralLabels) {
  expect_refused(write("return x.mean([2, 3])[:, :1]", small_metadata(), "no\nyes\n"),
                 "gives one number, but there are 2 labels: a model that answers yes or no takes "
                 "one label, that of yes");
}

TEST_F(TorchArchives, RefusesAnOutputThatIsNotWhatIsStated) {
  std::string metadata = small_metadata();
  metadata.insert(1, R"("output": "probabilities", )");
  expect_refused(write("return x.mean([2, 3]) * 10", metadata, kThreeLabels),
                 "its output is said to be probabilities, but its numbers are not all from 0 to 1");
}

TEST_F(TorchArchives, RefusesALabelCountThatDiffers) {
  expect_refused(write(kMeanOfChannels, small_metadata(), "one\ntwo\n"),
                 "gives 3 scores, but there are 2 labels");
}

TEST_F(TorchArchives, RefusesAnOutputOfTheWrongShapeOrKind) {
  expect_refused(write("return x", small_metadata(), kThreeLabels),
                 "instead of one row of float scores");
  expect_refused(write("return x.mean([2, 3]).to(3)", small_metadata(), kThreeLabels),
                 "instead of one row of float scores");
  expect_refused(write("return (x, x)", small_metadata(), kThreeLabels),
                 "gives Float [1, 3, 8, 8], Float [1, 3, 8, 8] instead of one row of float scores");
  expect_refused(write("return 1", small_metadata(), kThreeLabels),
                 "gives Int instead of a tensor");
  expect_refused(write("return x.mean([2, 3]).to_sparse()", small_metadata(), kThreeLabels),
                 "a tensor of layout Sparse instead of one row of float scores");
}

TEST_F(TorchArchives, RefusesScoresThatAreNoNumbers) {
  const std::string not_finite = "gives scores that are not finite numbers";
  for (const char* body :
       {"return x.mean([2, 3]) * float('nan')", "return x.mean([2, 3]) + float('inf')",
        "return x.mean([2, 3]) - float('inf')"}) {
    expect_refused(write(body, small_metadata(), kThreeLabels), not_finite);
  }
  // Some images of the warm-up give numbers, so a frame alone shows it.
  const auto later = open_torch_model(ModelArchive(write("return torch.log(-x.mean([2, 3]) + 0.5)",
                                                         small_metadata(), kThreeLabels)),
                                      {});
  std::vector<float> logits;
  try {
    ImageTensor bright;
    bright.width = bright.height = 8;
    bright.values.assign(std::size_t{8} * 8 * 3, 1.0F);
    later->classify(bright, {}, logits);
    FAIL() << "accepted " << logits[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "model " + (directory_ / "model.pt") + ": " + not_finite);
  }
  // One label that is ruled out is a score.
  const auto masked = open_torch_model(
      ModelArchive(write("return torch.log(x.mean([2, 3]) + torch.tensor([0.0, 1.0, 1.0]))",
                         small_metadata(), kThreeLabels)),
      {});
  EXPECT_EQ(masked->spec().labels.size(), 3U);
}

TEST_F(TorchArchives, RefusesAModelThatThrows) {
  expect_refused(write("assert x is None, \"not today\"", small_metadata(), kThreeLabels),
                 "not today");
  expect_refused(write("return x.view([1, 7])", small_metadata(), kThreeLabels),
                 "fails while classifying");
}

TEST(TorchClassifier, KnowsTheSelftestModelsKernelsAndParameters) {
  if (!std::filesystem::exists(LOOKOUT_SELFTEST)) GTEST_SKIP() << "no self-test model in models/";
  ClassifierOptions options;
  options.count_parameters = true;
  const auto classifier = open_torch_model(ModelArchive(LOOKOUT_SELFTEST), options);
  EXPECT_EQ(classifier->facts().activations, "qint8");
  EXPECT_EQ(classifier->facts().kernels, "XNNPACK");
  EXPECT_EQ(classifier->facts().engine, "QNNPACK");
  EXPECT_GT(classifier->facts().parameters, 100'000U);
  EXPECT_EQ(classifier->spec().labels.size(), 16U);
}

}  // namespace
}  // namespace lookout

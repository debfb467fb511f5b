#include "pipeline/torch/torch_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "paths.h"
#include "pipeline/error.h"
#include "pipeline/model/preprocessor.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

const std::string kSelftest = std::string(LOOKOUT_MODELS) + "/selftest.pt";

ImageTensor random_image(int width, int height) {
  ImageTensor image;
  image.width = width;
  image.height = height;
  image.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (float& value : image.values) value = normal(random);
  return image;
}

void expect_refused(const std::string& archive, const std::string& named,
                    ErrorKind kind = ErrorKind::kBadData) {
  try {
    const TorchClassifier classifier(ModelArchive(archive), {});
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
  TorchClassifier classifier(ModelArchive(write(kMeanOfChannels, small_metadata(), kThreeLabels)),
                             {});
  ImageTensor image;
  image.width = 8;
  image.height = 8;
  for (int i = 0; i < 64; ++i) image.values.insert(image.values.end(), {0.25F, 0.5F, 0.75F});
  std::vector<float> logits;
  classifier.classify(image, {}, logits);
  EXPECT_EQ(logits, (std::vector<float>{0.25F, 0.5F, 0.75F}));
  EXPECT_EQ(classifier.spec().name, "small");
  EXPECT_EQ(classifier.facts().activations, "float32");
}

// Scores of a picture as preprocessed for the classifier, and as floats.
struct BothWays {
  std::vector<float> of_bytes;
  std::vector<float> of_floats;
};

BothWays classify_both_ways(TorchClassifier& classifier, const cv::Mat& bgr) {
  InputSpec spec = classifier.spec().input;
  EXPECT_TRUE(spec.quantization);
  ImageTensor image;
  BothWays scores;
  Preprocessor(spec, {}).run(bgr, image);
  EXPECT_TRUE(image.values.empty());
  classifier.classify(image, {}, scores.of_bytes);
  spec.quantization.reset();
  Preprocessor(spec, {}).run(bgr, image);
  EXPECT_TRUE(image.bytes.empty());
  classifier.classify(image, {}, scores.of_floats);
  return scores;
}

TEST_F(TorchArchives, TakesTheBytesOfAQuantizedInputAsLibTorchQuantizesThem) {
  // Of 2/255 every second level lies between two bytes; 0.001 leaves the range of a byte.
  for (const float scale : {0.018631115555763245F, 2.0F / 255, 0.001F, 0.7F}) {
    for (const bool is_signed : {false, true}) {
      std::ostringstream body;
      body.precision(17);
      body << "q = torch.quantize_per_tensor(x, " << static_cast<double>(scale) << ", "
           << (is_signed ? "-14, 12" : "114, 13") << ")\n"
           << "  return torch.dequantize(q).mean([2, 3])";
      TorchClassifier classifier(ModelArchive(write(body.str(), small_metadata(), kThreeLabels)),
                                 {});
      const auto& quantization = classifier.spec().input.quantization;
      ASSERT_TRUE(quantization);
      EXPECT_EQ(quantization->scale, scale);
      EXPECT_EQ(quantization->zero_point, is_signed ? -14 : 114);
      EXPECT_EQ(quantization->is_signed, is_signed);
      for (int level = 0; level < 256; ++level) {
        const cv::Mat even(8, 8, CV_8UC3, cv::Scalar(level, 255 - level, level * 0.5));
        const BothWays scores = classify_both_ways(classifier, even);
        ASSERT_EQ(scores.of_bytes, scores.of_floats) << scale << " " << level;
      }
    }
  }
}

TEST_F(TorchArchives, TakesFloatsWhereTheInputIsNotJustQuantized) {
  ASSERT_TRUE(TorchClassifier(ModelArchive(write("q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
                                                 "  return torch.dequantize(q).mean([2, 3])",
                                                 small_metadata(), kThreeLabels)),
                              {})
                  .spec()
                  .input.quantization);
  for (const char* body : {
           "q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
           "  return torch.dequantize(q).mean([2, 3]) + x.mean([2, 3])",
           "x = torch.cat([x[:, 0:2] * 2, x[:, 2:3]], 1)\n"
           "  q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
           "  return torch.dequantize(q).mean([2, 3])",
           "q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
           "  torch.relu_(q)\n"
           "  return torch.dequantize(q).mean([2, 3])",
           "q = torch.quantize_per_tensor(x, float(x.max()) / 9, 3, 13)\n"
           "  return torch.dequantize(q).mean([2, 3])",
           // No float has this value.
           "q = torch.quantize_per_tensor(x, 0.1, 3, 13)\n"
           "  return torch.dequantize(q).mean([2, 3])",
           // Not to bytes.
           "q = torch.quantize_per_tensor(x, 0.5, 3, 14)\n"
           "  return torch.dequantize(q).mean([2, 3])",
       }) {
    TorchClassifier classifier(ModelArchive(write(body, small_metadata(), kThreeLabels)), {});
    EXPECT_FALSE(classifier.spec().input.quantization) << body;
    ImageTensor image;
    Preprocessor(classifier.spec().input, {})
        .run(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(255)), image);
    std::vector<float> scores;
    classifier.classify(image, {}, scores);
    std::vector<float> again;
    classifier.classify(image, {}, again);
    EXPECT_EQ(scores, again) << body;
    EXPECT_GT(scores[2], 0.8F) << body;
  }
}

TEST_F(TorchArchives, RefusesWhatIsNoArchive) {
  const std::string path = directory_ / "model.pt";
  expect_refused(path, "no such model", ErrorKind::kNoInput);
  expect_refused(directory_.path().string(), "is not a file");
  std::ofstream(path) << "";
  expect_refused(path, "not a TorchScript archive");
  std::mt19937 random(1);
  std::ofstream noise(path, std::ios::binary);
  for (int i = 0; i < 100'000; ++i) noise.put(static_cast<char>(random()));
  noise.close();
  expect_refused(path, "not a TorchScript archive");
}

TEST_F(TorchArchives, RefusesTruncatedArchives) {
  if (!std::filesystem::exists(kSelftest)) GTEST_SKIP() << "no self-test model in models/";
  const auto size = std::filesystem::file_size(kSelftest);
  for (const double share : {0.01, 0.5, 0.9, 0.999}) {
    const std::string path = directory_ / "cut.pt";
    std::filesystem::copy_file(kSelftest, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path,
                                 static_cast<std::uintmax_t>(static_cast<double>(size) * share));
    expect_refused(path, "not a TorchScript archive, or a damaged one");
  }
}

TEST_F(TorchArchives, RefusesDamagedWeights) {
  if (!std::filesystem::exists(kSelftest)) GTEST_SKIP() << "no self-test model in models/";
  const std::string path = directory_ / "damaged.pt";
  std::filesystem::copy_file(kSelftest, path);
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
  const TorchClassifier classifier(ModelArchive(write(kMeanOfChannels, "", "")), options);
  EXPECT_FALSE(classifier.facts().has_metadata);
  EXPECT_EQ(classifier.spec().name, "model");
  EXPECT_EQ(classifier.spec().input.width, 224);
  EXPECT_FLOAT_EQ(classifier.spec().input.mean[0], 0.485F);
  EXPECT_EQ(classifier.spec().labels.size(), 3U);
}

TEST_F(TorchArchives, AModelThatEndsInSoftmaxIsRecognised) {
  const auto output = [this](const char* body) {
    return TorchClassifier(ModelArchive(write(body, small_metadata(), kThreeLabels)), {})
        .spec()
        .output;
  };
  EXPECT_EQ(output("return torch.softmax(x.mean([2, 3]), 1)"), ModelOutput::kProbabilities);
  EXPECT_EQ(output(kMeanOfChannels), ModelOutput::kLogits);
  // Probabilities of a black image alone.
  EXPECT_EQ(output("return x.mean([2, 3]) + 0.333333"), ModelOutput::kLogits);
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
  expect_refused(write("return (x, x)", small_metadata(), kThreeLabels), "instead of a tensor");
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
  // A blank picture is all that is looked at before the first frame.
  TorchClassifier later(ModelArchive(write("return torch.log(-x.mean([2, 3]) + 0.5)",
                                           small_metadata(), kThreeLabels)),
                        {});
  std::vector<float> logits;
  try {
    ImageTensor bright;
    bright.width = bright.height = 8;
    bright.values.assign(std::size_t{8} * 8 * 3, 1.0F);
    later.classify(bright, {}, logits);
    FAIL() << "accepted " << logits[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "model " + (directory_ / "model.pt") + ": " + not_finite);
  }
  // One label that is ruled out is a score.
  TorchClassifier masked(
      ModelArchive(write("return torch.log(x.mean([2, 3]) + torch.tensor([0.0, 1.0, 1.0]))",
                         small_metadata(), kThreeLabels)),
      {});
  EXPECT_EQ(masked.spec().labels.size(), 3U);
}

TEST_F(TorchArchives, RefusesAModelThatThrows) {
  expect_refused(write("assert x is None, \"not today\"", small_metadata(), kThreeLabels),
                 "not today");
  expect_refused(write("return x.view([1, 7])", small_metadata(), kThreeLabels),
                 "fails while classifying");
}

TEST(TorchClassifier, KnowsTheSelftestModelsKernelsAndParameters) {
  if (!std::filesystem::exists(kSelftest)) GTEST_SKIP() << "no self-test model in models/";
  ClassifierOptions options;
  options.count_parameters = true;
  const TorchClassifier classifier(ModelArchive(kSelftest), options);
  EXPECT_EQ(classifier.facts().activations, "qint8");
  EXPECT_EQ(classifier.facts().kernels, "XNNPACK");
  EXPECT_EQ(classifier.facts().engine, "QNNPACK");
  EXPECT_GT(classifier.facts().parameters, 100'000U);
  EXPECT_EQ(classifier.spec().labels.size(), 16U);
}

// The archives with real weights that may lie beside a checkout, and the self-test model.
class Archives : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not here";
  }
  static bool is_float() { return GetParam().find("float") != std::string::npos; }
};

std::vector<float> logits_in_python(const std::string& archive, const ImageTensor& image) {
  const TempDir directory;
  const std::string input = directory / "image.f32";
  std::ofstream file(input, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.values.data()),
             static_cast<std::streamsize>(image.values.size() * sizeof(float)));
  file.close();
  std::ostringstream command;
  // As many threads as here: OpenBLAS sums in another order with more.
  command << "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 " << LOOKOUT_TESTS << "/tools/logits.py "
          << archive << " " << image.height << " " << image.width << " < " << input;
  FILE* pipe = popen(command.str().c_str(), "r");
  std::vector<float> logits(100'000);
  logits.resize(std::fread(logits.data(), sizeof(float), logits.size(), pipe));
  EXPECT_EQ(pclose(pipe), 0);
  return logits;
}

TEST_P(Archives, GiveTheSameLogitsAsInPythonToTheBit) {
  if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0) {
    GTEST_SKIP() << "/usr/bin/python3 has no torch (apt-get install python3-torch)";
  }
  TorchClassifier classifier(ModelArchive(GetParam()), {});
  const ImageTensor image =
      random_image(classifier.spec().input.width, classifier.spec().input.height);
  std::vector<float> logits;
  classifier.classify(image, {}, logits);
  const std::vector<float> expected = logits_in_python(GetParam(), image);
#ifdef __aarch64__
  if (is_float()) {  // Python's is the build machine's processor, which adds in another order
    EXPECT_THAT(logits, testing::Pointwise(testing::FloatNear(1e-3F), expected));
    return;
  }
#endif
  EXPECT_EQ(logits, expected);
}

TEST_P(Archives, GiveTheSameLogitsForQuantizedBytesAsForFloatsToTheBit) {
  TorchClassifier classifier(ModelArchive(GetParam()), {});
  if (is_float()) {
    EXPECT_FALSE(classifier.spec().input.quantization);
    return;
  }
  cv::Mat bgr(480, 640, CV_8UC3);
  cv::randu(bgr, 0, 256);
  for (const cv::Mat& picture : {bgr, bgr(cv::Rect(0, 0, 224, 224))}) {
    const BothWays scores = classify_both_ways(classifier, picture);
    EXPECT_EQ(scores.of_bytes, scores.of_floats);
  }
}

TEST_P(Archives, GiveTheSameLogitsWithTwoThreadsAndFromAnotherThread) {
  if (is_float()) GTEST_SKIP() << "sums of floats depend on how they are split among threads";
  const ImageTensor image = random_image(224, 224);
  std::vector<float> one;
  TorchClassifier(ModelArchive(GetParam()), {}).classify(image, {}, one);
  ClassifierOptions options;
  options.threads = 2;
  options.keep_threads = true;
  TorchClassifier classifier(ModelArchive(GetParam()), options);
  std::vector<float> two;
  std::thread([&] { classifier.classify(image, {}, two); }).join();
  EXPECT_EQ(one, two);
}

INSTANTIATE_TEST_SUITE_P(
    All, Archives,
    testing::Values(kSelftest, std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_qnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_xnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_float.pt"),
    [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace lookout

// What the classifier computes: from bytes and floats, and as Python computes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "paths.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/torch/torch_classifier.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_archives.h"

namespace lookout {
namespace {

class QuantizedInput : public testing::Test {
 protected:
  std::string write(const std::string& body) {
    std::string path = directory_ / "model.pt";
    write_archive(path, body, small_metadata(), kThreeLabels);
    return path;
  }

  TempDir directory_;
};

// Scores of a picture as preprocessed for the classifier, and as floats.
struct BothWays {
  std::vector<float> of_bytes;
  std::vector<float> of_floats;
};

BothWays classify_both_ways(Classifier& classifier, const cv::Mat& bgr) {
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

TEST_F(QuantizedInput, IsTheBytesThatLibTorchMakesOfFloats) {
  // Of 2/255 every second level lies between two bytes; 0.001 leaves the range of a byte.
  for (const float scale : {0.018631115555763245F, 2.0F / 255, 0.001F, 0.7F}) {
    for (const bool is_signed : {false, true}) {
      std::ostringstream body;
      body.precision(17);
      body << "q = torch.quantize_per_tensor(x, " << static_cast<double>(scale) << ", "
           << (is_signed ? "-14, 12" : "114, 13") << ")\n"
           << "  return torch.dequantize(q).mean([2, 3])";
      const auto classifier = open_torch_model(ModelArchive(write(body.str())), {});
      const auto& quantization = classifier->spec().input.quantization;
      ASSERT_TRUE(quantization);
      EXPECT_EQ(quantization->scale, scale);
      EXPECT_EQ(quantization->zero_point, is_signed ? -14 : 114);
      EXPECT_EQ(quantization->is_signed, is_signed);
      for (int level = 0; level < 256; ++level) {
        const cv::Mat even(8, 8, CV_8UC3, cv::Scalar(level, 255 - level, level * 0.5));
        const BothWays scores = classify_both_ways(*classifier, even);
        ASSERT_EQ(scores.of_bytes, scores.of_floats) << scale << " " << level;
      }
    }
  }
}

// A black picture with a white upper left pixel; whether the last pixel of the network is white.
TEST_F(QuantizedInput, LeavesItsFlipToThePreprocessor) {
  cv::Mat bgr = cv::Mat::zeros(8, 8, CV_8UC3);
  bgr.at<cv::Vec3b>(0, 0) = cv::Vec3b::all(255);
  const auto corner_of = [&](const std::string& flips, InputSpec& spec) {
    const std::string body = "q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n" + flips +
                             "  return torch.dequantize(q)[:, :, 7, 7]";
    const auto classifier = open_torch_model(ModelArchive(write(body)), {});
    spec = classifier->spec().input;
    const BothWays scores = classify_both_ways(*classifier, bgr);
    EXPECT_EQ(scores.of_bytes, scores.of_floats) << flips;
    return scores.of_bytes.front() > 0;
  };
  InputSpec spec;
  EXPECT_FALSE(corner_of("", spec));
  EXPECT_FALSE(spec.flip_x || spec.flip_y);
  EXPECT_TRUE(corner_of("  q = torch.flip(q, [2, 3])\n", spec));
  EXPECT_TRUE(spec.flip_x && spec.flip_y);
  EXPECT_FALSE(corner_of("  q = torch.flip(q, [-1])\n", spec));
  EXPECT_TRUE(spec.flip_x && !spec.flip_y);
  // These stay in the network: of channels, and a tensor that is used twice, written to or kept.
  EXPECT_FALSE(corner_of("  q = torch.flip(q, [1])\n", spec));
  EXPECT_FALSE(spec.flip_x || spec.flip_y);
  EXPECT_TRUE(
      corner_of("  f = torch.flip(q, [2, 3])\n"
                "  q = torch.cat([q[:, :, 0:0], f], 2)\n",
                spec));
  EXPECT_FALSE(spec.flip_x || spec.flip_y);
  EXPECT_TRUE(corner_of("  q = torch.flip(q, [2, 3])\n  torch.relu_(q)\n", spec));
  EXPECT_FALSE(spec.flip_x || spec.flip_y);
  EXPECT_TRUE(corner_of("  q = torch.flip(q, [2, 3])\n  self.last = q\n", spec));
  EXPECT_FALSE(spec.flip_x || spec.flip_y);
}

// The difference of each picture to the one before it.
TEST_F(QuantizedInput, BelongsToAModelThatKeepsIt) {
  for (const std::string quantize : {"q = x\n", "q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"}) {
    const std::string body =
        quantize +
        "  y = (torch.dequantize(q) - torch.dequantize(self.last)).mean([2, 3])\n"
        "  self.last = q\n"
        "  return y";
    const auto classifier = open_torch_model(ModelArchive(write(body)), {});
    EXPECT_FALSE(classifier->spec().input.quantization) << quantize;
    Preprocessor preprocessor(classifier->spec().input, {});
    ImageTensor image;
    std::vector<float> scores;
    for (const auto& [level, difference] : {std::pair{0, 0.0F}, {255, 1.0F}, {0, -1.0F}}) {
      preprocessor.run(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(level)), image);
      classifier->classify(image, {}, scores);
      EXPECT_EQ(scores, std::vector<float>(3, difference)) << quantize;
    }
  }
}

TEST_F(QuantizedInput, IsFloatsWhereItIsNotJustQuantized) {
  ASSERT_TRUE(open_torch_model(ModelArchive(write("q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
                                                  "  return torch.dequantize(q).mean([2, 3])")),
                               {})
                  ->spec()
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
    const auto classifier = open_torch_model(ModelArchive(write(body)), {});
    EXPECT_FALSE(classifier->spec().input.quantization) << body;
    ImageTensor image;
    Preprocessor(classifier->spec().input, {})
        .run(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(255)), image);
    std::vector<float> scores;
    classifier->classify(image, {}, scores);
    std::vector<float> again;
    classifier->classify(image, {}, again);
    EXPECT_EQ(scores, again) << body;
    EXPECT_GT(scores[2], 0.8F) << body;
  }
}

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

// The archives with real weights that may lie beside a checkout, and the self-test model.
class Archives : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not here";
  }
  static bool is_float() { return GetParam().find("float") != std::string::npos; }
};

// The image as the classifier takes it.
ImageTensor flipped(ImageTensor image, const InputSpec& spec) {
  cv::Mat pixels(image.height, image.width, CV_32FC3, image.values.data());
  if (spec.flip_x) cv::flip(pixels.clone(), pixels, 1);
  if (spec.flip_y) cv::flip(pixels.clone(), pixels, 0);
  return image;
}

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
  const auto classifier = open_torch_model(ModelArchive(GetParam()), {});
  const ImageTensor image =
      random_image(classifier->spec().input.width, classifier->spec().input.height);
  std::vector<float> logits;
  classifier->classify(flipped(image, classifier->spec().input), {}, logits);
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
  const auto classifier = open_torch_model(ModelArchive(GetParam()), {});
  if (is_float()) {
    EXPECT_FALSE(classifier->spec().input.quantization);
    return;
  }
  cv::Mat bgr(480, 640, CV_8UC3);
  cv::randu(bgr, 0, 256);
  for (const cv::Mat& picture : {bgr, bgr(cv::Rect(0, 0, 224, 224))}) {
    const BothWays scores = classify_both_ways(*classifier, picture);
    EXPECT_EQ(scores.of_bytes, scores.of_floats);
  }
}

TEST_P(Archives, GiveTheSameLogitsWithTwoThreadsAndFromAnotherThread) {
  if (is_float()) GTEST_SKIP() << "sums of floats depend on how they are split among threads";
  const ImageTensor image = random_image(224, 224);
  std::vector<float> one;
  open_torch_model(ModelArchive(GetParam()), {})->classify(image, {}, one);
  ClassifierOptions options;
  options.threads = 2;
  options.keep_threads = true;
  const auto classifier = open_torch_model(ModelArchive(GetParam()), options);
  std::vector<float> two;
  std::thread([&] { classifier->classify(image, {}, two); }).join();
  EXPECT_EQ(one, two);
}

INSTANTIATE_TEST_SUITE_P(
    All, Archives,
    testing::Values(LOOKOUT_SELFTEST,
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_qnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_xnnpack.pt",
                    std::string(LOOKOUT_SHARED_MODELS) + "/mobilenet_v2_float.pt"),
    [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace lookout

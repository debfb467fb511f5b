#include "pipeline/model/preprocessor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <opencv2/core.hpp>
#include <string>

#include "paths.h"
#include "pipeline/core/error.h"
#include "pipeline/core/model_spec.h"

namespace lookout {
namespace {

// The picture of models/preprocess.py --reference, which made the files in tests/data/preprocess.
cv::Mat reference_picture(const cv::Size& size) {
  cv::Mat bgr(size, CV_8UC3);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        bgr.at<cv::Vec3b>(y, x)[2 - c] =
            static_cast<std::uint8_t>((x * 7 + y * 13 + c * 61 + (x * y) / 11) & 255);
      }
    }
  }
  return bgr;
}

// Smooth, so that a step of one level anywhere is a rounding and not a misplaced pixel.
cv::Mat smooth_picture(const cv::Size& size) {
  cv::Mat bgr(size, CV_8UC3);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      bgr.at<cv::Vec3b>(y, x) = {static_cast<std::uint8_t>(255 * x / size.width),
                                 static_cast<std::uint8_t>(255 * y / size.height),
                                 static_cast<std::uint8_t>(127 * (x + y) / size.height % 256)};
    }
  }
  return bgr;
}

std::vector<float> read_reference(const std::string& name) {
  std::ifstream file(std::string(LOOKOUT_TEST_DATA) + "/preprocess/" + name + ".f32",
                     std::ios::binary | std::ios::ate);
  EXPECT_TRUE(file.good()) << name;
  std::vector<float> values(static_cast<std::size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

ImageTensor run(const InputSpec& spec, const View& view, const cv::Mat& bgr) {
  Preprocessor preprocessor(spec, view);
  ImageTensor out;
  preprocessor.run(bgr, out);
  return out;
}

InputSpec spec_of(int width, int height, ResizeMode mode = ResizeMode::kCenterSquare) {
  InputSpec spec;
  spec.width = width;
  spec.height = height;
  spec.resize = mode;
  return spec;
}

// Differences in levels of a byte.
struct Difference {
  double largest = 0;
  double mean = 0;
};

Difference compare(const std::vector<float>& a, const std::vector<float>& b,
                   const InputSpec& spec) {
  EXPECT_EQ(a.size(), b.size());
  Difference difference;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double levels = std::abs(a[i] - b[i]) * spec.std[i % 3] * 255;
    difference.largest = std::max(difference.largest, levels);
    difference.mean += levels / static_cast<double>(a.size());
  }
  return difference;
}

TEST(Preprocessor, APictureOfTheModelsSizeIsToTensorAndNormalize) {
  const InputSpec spec;
  const cv::Mat bgr = reference_picture({224, 224});
  const ImageTensor out = run(spec, {}, bgr);
  ASSERT_EQ(out.values.size(), 224U * 224 * 3);
  for (int y = 0; y < 224; ++y) {
    for (int x = 0; x < 224; ++x) {
      for (int c = 0; c < 3; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const double expected =
            (bgr.at<cv::Vec3b>(y, x)[2 - c] / 255.0 - spec.mean[channel]) / spec.std[channel];
        ASSERT_NEAR(out.values[static_cast<std::size_t>((y * 224 + x) * 3 + c)], expected, 1e-6);
      }
    }
  }
}

class PreprocessorReference
    : public testing::TestWithParam<std::tuple<ResizeMode, std::pair<int, int>>> {};

TEST_P(PreprocessorReference, IsPillowsResizeWithinOneLevel) {
  const auto [mode, size] = GetParam();
  const InputSpec spec = spec_of(32, 24, mode);
  const ImageTensor out = run(spec, {}, reference_picture({size.first, size.second}));
  const std::string name = std::string(to_text(mode)) + "_" + std::to_string(size.first) + "x" +
                           std::to_string(size.second) + "_to_32x24";
  const Difference difference = compare(out.values, read_reference(name), spec);
  EXPECT_LE(difference.largest, 1.01);
  // Pillow rounds to a byte twice, we once.
  EXPECT_LE(difference.mean, 0.25);
}

INSTANTIATE_TEST_SUITE_P(All, PreprocessorReference,
                         testing::Combine(testing::Values(ResizeMode::kCenterSquare,
                                                          ResizeMode::kStretch,
                                                          ResizeMode::kLetterbox),
                                          testing::Values(std::pair{640, 480}, std::pair{320, 180},
                                                          std::pair{100, 150})));

TEST(Preprocessor, TheUsefulSizeFollowsTheView) {
  InputSpec spec;
  spec.width = 200;
  spec.height = 100;
  View view;
  EXPECT_EQ(useful_size(spec, view), cv::Size(200, 100));
  view.roi = {0.1, 0, 0.5, 0.25};
  EXPECT_EQ(useful_size(spec, view), cv::Size(400, 400));
  view.roi = {0, 0, 1, 1};
  view.rotation = 270;
  EXPECT_EQ(useful_size(spec, view), cv::Size(100, 200));
}

TEST(Preprocessor, AnEvenAreaKeepsItsValue) {
  for (const int level : {0, 1, 127, 254, 255}) {
    const cv::Mat bgr(480, 640, CV_8UC3, cv::Scalar::all(level));
    const InputSpec spec = spec_of(33, 47, ResizeMode::kStretch);
    const ImageTensor even = run(spec, {}, bgr);
    const ImageTensor same = run(spec, {}, cv::Mat(47, 33, CV_8UC3, cv::Scalar::all(level)));
    EXPECT_EQ(even.values, same.values);
  }
}

TEST(Preprocessor, LetterboxPadsWithTheMeanColour) {
  const InputSpec spec = spec_of(40, 40, ResizeMode::kLetterbox);
  const ImageTensor out = run(spec, {}, cv::Mat(100, 200, CV_8UC3, cv::Scalar::all(255)));
  for (std::size_t y = 0; y < 40; ++y) {
    const bool padding = y < 10 || y >= 30;
    for (std::size_t i = 0; i < 120; ++i) EXPECT_EQ(out.values[y * 120 + i] == 0.0F, padding);
  }
}

TEST(Preprocessor, WritesTheQuantizedBytesOfTheSameValues) {
  const View turned{90, true, false, {0.1, 0.2, 0.7, 0.6}};
  for (const InputQuantization& quantization :
       {InputQuantization{0.02F, 114, false}, InputQuantization{0.02F, -14, true}}) {
    for (const ResizeMode mode :
         {ResizeMode::kCenterSquare, ResizeMode::kStretch, ResizeMode::kLetterbox}) {
      for (const cv::Size size : {cv::Size(32, 24), cv::Size(90, 20), cv::Size(7, 31)}) {
        for (const View& view : {View{}, turned}) {
          InputSpec spec = spec_of(32, 24, mode);
          const cv::Mat bgr = reference_picture(size);
          const ImageTensor floats = run(spec, view, bgr);
          spec.quantization = quantization;
          const ImageTensor out = run(spec, view, bgr);
          EXPECT_TRUE(floats.bytes.empty());
          EXPECT_TRUE(out.values.empty());
          ASSERT_EQ(out.bytes.size(), floats.values.size());
          for (std::size_t i = 0; i < out.bytes.size(); ++i) {
            ASSERT_EQ(out.bytes[i], quantization.quantize(floats.values[i])) << i;
          }
        }
      }
    }
  }
}

TEST(Preprocessor, WritesTheSameValuesInPlanes) {
  const View turned{90, true, false, {0.1, 0.2, 0.7, 0.6}};
  for (const cv::Size size : {cv::Size(32, 24), cv::Size(90, 20), cv::Size(7, 31)}) {
    for (const View& view : {View{}, turned}) {
      for (const ChannelOrder order : {ChannelOrder::kRgb, ChannelOrder::kBgr}) {
        InputSpec spec = spec_of(32, 24, ResizeMode::kLetterbox);
        spec.channel_order = order;
        const cv::Mat bgr = reference_picture(size);
        const ImageTensor last = run(spec, view, bgr);
        spec.layout = TensorLayout::kPlanar;
        const ImageTensor planar = run(spec, view, bgr);
        ASSERT_EQ(planar.values.size(), last.values.size());
        const std::size_t pixels = planar.values.size() / 3;
        for (std::size_t i = 0; i < last.values.size(); ++i) {
          ASSERT_EQ(planar.values[i % 3 * pixels + i / 3], last.values[i]) << i;
        }
      }
    }
  }
}

// With padding that is wider on the right or below, too.
TEST(Preprocessor, FlipsThePaddedImage) {
  const View turned{90, true, false, {0.1, 0.2, 0.7, 0.6}};
  for (const cv::Size size : {cv::Size(32, 24), cv::Size(90, 20), cv::Size(7, 31)}) {
    for (const View& view : {View{}, turned}) {
      InputSpec spec = spec_of(32, 24, ResizeMode::kLetterbox);
      const cv::Mat bgr = reference_picture(size);
      ImageTensor plain = run(spec, view, bgr);
      const cv::Mat image(24, 32, CV_32FC3, plain.values.data());
      for (const auto& [flip_x, flip_y, code] :
           {std::tuple{true, false, 1}, std::tuple{false, true, 0}, std::tuple{true, true, -1}}) {
        spec.flip_x = flip_x;
        spec.flip_y = flip_y;
        ImageTensor flipped = run(spec, view, bgr);
        cv::Mat expected;
        cv::flip(image, expected, code);
        const cv::Mat found(24, 32, CV_32FC3, flipped.values.data());
        EXPECT_EQ(cv::norm(found, expected, cv::NORM_INF), 0) << size << " " << code;
      }
    }
  }
}

TEST(InputQuantization, RoundsTiesToEvenAndStaysWithinAByte) {
  const InputQuantization quint8{0.5F, 10, false};
  EXPECT_EQ(quint8.quantize(0), 10);
  EXPECT_EQ(quint8.quantize(0.25F), 10);  // 0.5 steps
  EXPECT_EQ(quint8.quantize(0.75F), 12);  // 1.5 steps
  EXPECT_EQ(quint8.quantize(-0.75F), 8);
  EXPECT_EQ(quint8.quantize(-1000), 0);
  EXPECT_EQ(quint8.quantize(1e30F), 255);
  const InputQuantization qint8{0.5F, -10, true};
  EXPECT_EQ(static_cast<std::int8_t>(qint8.quantize(0)), -10);
  EXPECT_EQ(static_cast<std::int8_t>(qint8.quantize(-1000)), -128);
  EXPECT_EQ(static_cast<std::int8_t>(qint8.quantize(1e30F)), 127);
}

TEST(Preprocessor, ChannelOrderBgrKeepsTheOrder) {
  InputSpec spec = spec_of(8, 8);
  spec.mean = {0, 0, 0};
  spec.std = {1, 1, 1};
  const cv::Mat bgr(8, 8, CV_8UC3, cv::Scalar(255, 51, 0));
  const ImageTensor rgb_out = run(spec, {}, bgr);
  EXPECT_EQ(std::vector<float>(rgb_out.values.begin(), rgb_out.values.begin() + 3),
            (std::vector<float>{0, 0.2F, 1}));
  spec.channel_order = ChannelOrder::kBgr;
  const ImageTensor bgr_out = run(spec, {}, bgr);
  EXPECT_EQ(std::vector<float>(bgr_out.values.begin(), bgr_out.values.begin() + 3),
            (std::vector<float>{1, 0.2F, 0}));
}

TEST(Preprocessor, RoiIsTheSameAsCuttingFirst) {
  const cv::Mat bgr = reference_picture({640, 480});
  View view;
  view.roi = {0.25, 0.5, 0.5, 0.25};
  const InputSpec spec = spec_of(56, 56);
  EXPECT_EQ(run(spec, view, bgr).values,
            run(spec, {}, bgr(cv::Rect(160, 240, 320, 120)).clone()).values);
}

class PreprocessorView : public testing::TestWithParam<std::tuple<int, bool, bool, ResizeMode>> {};

TEST_P(PreprocessorView, IsTheSameAsTurningMirroringAndCuttingFirst) {
  const auto [rotation, hflip, vflip, mode] = GetParam();
  const cv::Mat bgr = smooth_picture({301, 200});
  cv::Mat expected = bgr.clone();
  if (rotation != 0) cv::rotate(bgr, expected, rotation / 90 - 1);
  if (hflip) cv::flip(expected.clone(), expected, 1);
  if (vflip) cv::flip(expected.clone(), expected, 0);
  View view;
  view.rotation = rotation;
  view.hflip = hflip;
  view.vflip = vflip;
  View roi;
  view.roi = roi.roi = {0.1, 0.2, 0.6, 0.7};
  const InputSpec spec = spec_of(48, 32, mode);
  const Difference difference =
      compare(run(spec, view, bgr).values, run(spec, roi, expected).values, spec);
  EXPECT_LE(difference.largest, 1.01);
  EXPECT_LE(difference.mean, 0.02);
}

INSTANTIATE_TEST_SUITE_P(All, PreprocessorView,
                         testing::Combine(testing::Values(0, 90, 180, 270), testing::Bool(),
                                          testing::Bool(),
                                          testing::Values(ResizeMode::kCenterSquare,
                                                          ResizeMode::kStretch,
                                                          ResizeMode::kLetterbox)));

TEST(Preprocessor, FollowsAFrameOfAnotherSize) {
  const InputSpec spec = spec_of(32, 32);
  Preprocessor preprocessor(spec, {});
  ImageTensor out;
  preprocessor.run(reference_picture({640, 480}), out);
  preprocessor.run(reference_picture({100, 150}), out);
  EXPECT_EQ(out.values, run(spec, {}, reference_picture({100, 150})).values);
}

TEST(Preprocessor, TakesPartsOfLargerPicturesAndTheSmallestOnes) {
  const cv::Mat large = reference_picture({640, 480});
  const cv::Mat part = large(cv::Rect(13, 17, 101, 77));
  const InputSpec spec = spec_of(32, 32);
  EXPECT_EQ(run(spec, {}, part).values, run(spec, {}, part.clone()).values);
  const ImageTensor one = run(spec, {}, cv::Mat(1, 1, CV_8UC3, cv::Scalar(1, 2, 3)));
  EXPECT_EQ(one.values.size(), 32U * 32 * 3);
}

TEST(Preprocessor, ARoiAtTheEdgeKeepsAPixel) {
  View view;
  view.roi = {0.9995, 0.9995, 0.0005, 0.0005};
  const InputSpec spec = spec_of(8, 8);
  for (const cv::Size& size : {cv::Size(640, 480), cv::Size(1, 1), cv::Size(3, 2)}) {
    const cv::Mat bgr = reference_picture(size);
    const cv::Mat corner = bgr(cv::Rect(size.width - 1, size.height - 1, 1, 1)).clone();
    EXPECT_EQ(run(spec, view, bgr).values, run(spec, {}, corner).values);
  }
}

TEST(UsefulSize, StaysWithinBoundsForATinyRoi) {
  View view;
  for (const double fraction : {1e-7, 1e-300, 0.0}) {
    view.roi = {0, 0, fraction, fraction};
    EXPECT_EQ(useful_size(spec_of(224, 224), view), cv::Size(kMaxFrameSide, kMaxFrameSide));
  }
  view.roi = {0, 0, 0.5, 1};
  EXPECT_EQ(useful_size(spec_of(224, 192), view), cv::Size(448, 192));
}

TEST(ReducibleSize, LeavesLinesEnoughOfWhatIsClassified) {
  View view;
  EXPECT_EQ(reducible_size(spec_of(224, 224), view), cv::Size(240, 240));
  EXPECT_EQ(reducible_size(spec_of(120, 60), view), cv::Size(480, 240));
  EXPECT_EQ(reducible_size(spec_of(320, 256), view), cv::Size(320, 256)) << "the model's size";
  view.roi = {0, 0, 0.5, 0.25};
  view.rotation = 90;
  EXPECT_EQ(reducible_size(spec_of(224, 224), view), cv::Size(960, 480));
}

TEST(Preprocessor, RefusesWhatIsNotBgr) {
  for (const cv::Mat& wrong : {cv::Mat(), cv::Mat(4, 4, CV_8UC1), cv::Mat(4, 4, CV_32FC3)}) {
    try {
      run(InputSpec(), {}, wrong);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    }
  }
}

// Of thousands of source pixels for one of the model's, each weighs little more than its rounding.
TEST(Preprocessor, AVeryLongStripIsAveraged) {
  cv::Mat strip(1, 59200, CV_8UC3, cv::Scalar::all(255));
  for (int x = 0; x < strip.cols; x += 720) strip.at<cv::Vec3b>(0, x) = {0, 0, 0};
  const double mean = cv::mean(strip)[0] / 255;
  InputSpec spec = spec_of(16, 4, ResizeMode::kStretch);
  spec.mean = {0, 0, 0};
  spec.std = {1, 1, 1};
  for (const float value : run(spec, {}, strip).values) EXPECT_NEAR(value, mean, 1.0 / 255);
  spec = spec_of(4, 16, ResizeMode::kStretch);
  spec.mean = {0, 0, 0};
  spec.std = {1, 1, 1};
  for (const float value : run(spec, {}, strip.t()).values) EXPECT_NEAR(value, mean, 1.0 / 255);
}

}  // namespace
}  // namespace lookout

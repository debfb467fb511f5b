// The preprocessor's way from a camera's YUV picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <opencv2/core.hpp>
#include <random>
#include <utility>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/model/preprocessor.h"

namespace lookout {
namespace {

using Pixel = std::array<double, 3>;  // Y, U, V or B, G, R, in levels

constexpr std::array<RawFormat, 7> kFormats{RawFormat::kYuyv, RawFormat::kYvyu, RawFormat::kUyvy,
                                            RawFormat::kNv12, RawFormat::kNv21, RawFormat::kI420,
                                            RawFormat::kYv12};

constexpr std::array<YuvEncoding, 4> kEncodings{
    YuvEncoding{ColorMatrix::kBt601, false}, YuvEncoding{ColorMatrix::kBt601, true},
    YuvEncoding{ColorMatrix::kBt709, false}, YuvEncoding{ColorMatrix::kBt709, true}};

// ITU-R BT.601-7 and BT.709-6.
struct Exact {
  explicit Exact(const YuvEncoding& encoding) : full(encoding.full_range) {
    const bool bt709 = encoding.matrix == ColorMatrix::kBt709;
    red = bt709 ? 0.2126 : 0.299;
    blue = bt709 ? 0.0722 : 0.114;
  }
  Pixel to_bgr(const Pixel& yuv) const {
    const double y = full ? yuv[0] : (yuv[0] - 16) * 255 / 219;
    const double u = (yuv[1] - 128) * (full ? 1 : 255.0 / 224);
    const double v = (yuv[2] - 128) * (full ? 1 : 255.0 / 224);
    const double b = y + 2 * (1 - blue) * u;
    const double r = y + 2 * (1 - red) * v;
    return {b, (y - blue * b - red * r) / (1 - blue - red), r};
  }
  Pixel to_yuv(const Pixel& bgr) const {
    const double y = red * bgr[2] + (1 - red - blue) * bgr[1] + blue * bgr[0];
    const double u = (bgr[0] - y) / 2 / (1 - blue);
    const double v = (bgr[2] - y) / 2 / (1 - red);
    if (full) return {y, 128 + u, 128 + v};
    return {16 + y * 219 / 255, 128 + u * 224 / 255, 128 + v * 224 / 255};
  }
  double red;
  double blue;
  bool full;
};

unsigned char to_byte(double value) {
  return static_cast<unsigned char>(std::clamp(std::lround(value), 0L, 255L));
}

// A picture in memory: each plane with exactly the promised bytes, so that a sanitizer sees reads
// beyond them.
class Painted {
 public:
  Painted(RawFormat format, const cv::Size& size, const YuvEncoding& encoding,
          std::size_t padding = 0) {
    picture.format = format;
    picture.width = size.width;
    picture.height = size.height;
    picture.stride = min_stride(format, size.width) + padding;
    picture.encoding = encoding;
    for (std::size_t i = 0; i < plane_count(format); ++i) {
      planes_[i].assign(plane_size(format, size.width, size.height, picture.stride, i), 0xEE);
      picture.planes[i] = planes_[i].data();
    }
  }

  // Every two pixels of a line, or of two lines, get the color of the first.
  void paint(const std::function<Pixel(int x, int y)>& yuv) {
    const bool two_lines = plane_count(picture.format) > 1;
    for (int y = 0; y < picture.height; ++y) {
      const SampleLine line = sample_line(picture, y);
      for (int x = 0; x < picture.width; ++x) {
        const Pixel pixel = yuv(x, y);
        set(line.luma + x * line.luma_step, pixel[0]);
        if (x % 2 != 0 || (two_lines && y % 2 != 0)) continue;
        set(line.u + x / 2 * line.chroma_step, pixel[1]);
        set(line.v + x / 2 * line.chroma_step, pixel[2]);
      }
    }
  }

  // What a conversion of each pixel of a line alone takes.
  std::vector<Pixel> line(int y) const {
    const SampleLine line = sample_line(picture, y);
    std::vector<Pixel> pixels;
    for (int x = 0; x < picture.width; ++x) {
      const int pair = x / 2;
      pixels.push_back({static_cast<double>(line.luma[x * line.luma_step]),
                        static_cast<double>(line.u[pair * line.chroma_step]),
                        static_cast<double>(line.v[pair * line.chroma_step])});
    }
    return pixels;
  }

  RawPicture picture;

 private:
  static void set(const unsigned char* sample, double value) {
    *const_cast<unsigned char*>(sample) = to_byte(value);
  }
  std::array<std::vector<unsigned char>, 3> planes_;
};

// Colors, from Exact::to_yuv().
Pixel gradient(const cv::Size& size, int x, int y) {
  return {255.0 * x / size.width, 255.0 * y / size.height,
          127.0 * x / size.width + 127.0 * y / size.height};
}

Pixel bars(const cv::Size& size, int x, int /*y*/) {
  const int bar = 8 * x / size.width;
  const auto level = [bar](int bit) { return (bar >> bit & 1) != 0 ? 255.0 : 0.0; };
  return {level(0), level(1), level(2)};
}

// The same for both pixels of a pair, and both lines: such a picture keeps its colors.
Pixel noise(const cv::Size& /*size*/, int x, int y) {
  std::minstd_rand random(static_cast<unsigned>(x / 2 * 7919 + y / 2 * 104729 + 1));
  random.discard(3);
  const auto level = [&] { return static_cast<double>(static_cast<int>(random() >> 6U & 0xFFU)); };
  const double b = level();
  const double g = level();
  return {b, g, level()};
}

// The same for all three, with samples that are no colors.
Pixel yuv_noise(const cv::Size& /*size*/, int x, int y) {
  std::minstd_rand random(static_cast<unsigned>(x * 7919 + y * 104729 + 1));
  random.discard(3);
  const auto level = [&] { return static_cast<double>(static_cast<int>(random() >> 6U & 0xFFU)); };
  const double a = level();
  const double b = level();
  return {a, b, level()};
}

using Pattern = Pixel (*)(const cv::Size&, int, int);

Painted painted(RawFormat format, const cv::Size& size, const YuvEncoding& encoding,
                Pattern pattern, std::size_t padding = 0) {
  Painted picture(format, size, encoding, padding);
  const Exact exact(encoding);
  picture.paint([&](int x, int y) {
    const Pixel pixel = pattern(size, x, y);
    return pattern == &yuv_noise ? pixel : exact.to_yuv(pixel);
  });
  return picture;
}

// The conversion of each pixel alone, rounded to bytes.
cv::Mat converted(const Painted& painted) {
  const Exact exact(painted.picture.encoding);
  cv::Mat bgr(painted.picture.height, painted.picture.width, CV_8UC3);
  for (int y = 0; y < bgr.rows; ++y) {
    int x = 0;
    for (const Pixel& yuv : painted.line(y)) {
      const Pixel pixel = exact.to_bgr(yuv);
      bgr.at<cv::Vec3b>(y, x++) = {to_byte(pixel[0]), to_byte(pixel[1]), to_byte(pixel[2])};
    }
  }
  return bgr;
}

// Values are bytes of the picture.
InputSpec spec_of(int width, int height, ResizeMode mode = ResizeMode::kCenterSquare) {
  InputSpec spec;
  spec.width = width;
  spec.height = height;
  spec.resize = mode;
  spec.mean = {0, 0, 0};
  spec.std = {1 / 255.0F, 1 / 255.0F, 1 / 255.0F};
  return spec;
}

template <typename Picture>
ImageTensor run(const InputSpec& spec, const View& view, const Picture& picture) {
  Preprocessor preprocessor(spec, view);
  ImageTensor out;
  preprocessor.run(picture, out);
  return out;
}

struct Difference {
  double largest = 0;
  double mean = 0;
};

Difference compare(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  Difference difference;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double levels = std::abs(static_cast<double>(a[i]) - b[i]);
    difference.largest = std::max(difference.largest, levels);
    difference.mean += levels / static_cast<double>(a.size());
  }
  return difference;
}

// Pixels that another one is made of, with their weights.
using Weights = std::vector<std::pair<std::size_t, double>>;

// Of each of `out` pixels: those of `in` that a triangle filter makes it of.
std::vector<Weights> triangles(int in, int out) {
  const double scale = static_cast<double>(in) / out;
  const double support = std::max(scale, 1.0);
  std::vector<Weights> weights(static_cast<std::size_t>(out));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    for (int pixel = 0; pixel < in; ++pixel) {
      const double weight = 1 - std::abs((pixel + 0.5 - center) / support);
      if (weight > 0) weights[i].emplace_back(pixel, weight);
    }
  }
  return weights;
}

Pixel weighted_mean(const std::vector<Pixel>& pixels, const Weights& weights) {
  Pixel mean{};
  double sum = 0;
  for (const auto& [at, weight] : weights) {
    for (std::size_t i = 0; i < 3; ++i) mean[i] += weight * pixels[at][i];
    sum += weight;
  }
  for (double& value : mean) value /= sum;
  return mean;
}

// The whole picture scaled to width x height by a triangle filter, first across, then converted;
// not rounded.
std::vector<float> exactly(const Painted& painted, int width, int height) {
  const Exact exact(painted.picture.encoding);
  const std::vector<Weights> across = triangles(painted.picture.width, width);
  std::vector<std::vector<Pixel>> columns(across.size());
  for (int y = 0; y < painted.picture.height; ++y) {
    const std::vector<Pixel> line = painted.line(y);
    for (std::size_t x = 0; x < across.size(); ++x) {
      columns[x].push_back(weighted_mean(line, across[x]));
    }
  }
  std::vector<float> values;
  for (const Weights& down : triangles(painted.picture.height, height)) {
    for (const std::vector<Pixel>& column : columns) {
      const Pixel bgr = exact.to_bgr(weighted_mean(column, down));
      for (const std::size_t i : {2, 1, 0}) {
        values.push_back(static_cast<float>(std::clamp(bgr[i], 0.0, 255.0)));
      }
    }
  }
  return values;
}

class YuvFormat : public testing::TestWithParam<RawFormat> {};
INSTANTIATE_TEST_SUITE_P(All, YuvFormat, testing::ValuesIn(kFormats));

// Rounding to bytes is half a level and a quarter in the mean; what is more is ours.
TEST_P(YuvFormat, IsTheExactResultWithinItsRounding) {
  for (const YuvEncoding& encoding : kEncodings) {
    for (const cv::Size size : {cv::Size(320, 240), cv::Size(64, 48), cv::Size(20, 14)}) {
      for (const auto& [pattern, largest, mean] : {std::tuple{&gradient, 0.75, 0.27},
                                                   {&bars, 0.75, 0.2},
                                                   {&noise, 1.1, 0.3},
                                                   {&yuv_noise, 1.8, 0.36}}) {
        const Painted picture = painted(GetParam(), size, encoding, pattern, /*padding=*/10);
        const InputSpec spec = spec_of(30, 22, ResizeMode::kStretch);
        const Difference difference =
            compare(run(spec, {}, picture.picture).values, exactly(picture, 30, 22));
        EXPECT_LE(difference.largest, largest) << size;
        EXPECT_LE(difference.mean, mean) << size;
      }
    }
  }
}

TEST_P(YuvFormat, HasTheValuesOfAnyOtherFormat) {
  const cv::Size size(90, 66);
  for (const YuvEncoding& encoding : kEncodings) {
    for (const View& view : {View{}, View{90, true, false, {0.1, 0.2, 0.7, 0.6}}}) {
      const InputSpec spec = spec_of(32, 24);
      const Painted nv12 = painted(RawFormat::kNv12, size, encoding, &noise);
      const Painted picture = painted(GetParam(), size, encoding, &noise, 6);
      const Difference difference =
          compare(run(spec, view, picture.picture).values, run(spec, view, nv12.picture).values);
      // Weights of two lines of chroma are rounded together or apart.
      EXPECT_LE(difference.largest, plane_count(GetParam()) == 1 ? 2 : 0);
    }
  }
}

// With all widths, parts that begin at odd pixels and end there, and fewer lines than are blended
// at once.
TEST_P(YuvFormat, IsConversionThenScaling) {
  for (const cv::Size size :
       {cv::Size(90, 66), cv::Size(32, 24), cv::Size(16, 40), cv::Size(6, 4), cv::Size(2, 2)}) {
    const Painted picture = painted(GetParam(), size, kEncodings[2], &gradient);
    const cv::Mat bgr = converted(picture);
    for (const cv::Size output : {cv::Size(32, 24), cv::Size(7, 5), cv::Size(1, 1)}) {
      for (const int start : {0, 1, 2, 3}) {
        View view;
        view.roi = {start / 90.0, start / 66.0, 1 - 2 * start / 90.0, 1 - 3 * start / 66.0};
        const InputSpec spec = spec_of(output.width, output.height);
        const Difference difference =
            compare(run(spec, view, picture.picture).values, run(spec, view, bgr).values);
        EXPECT_LE(difference.largest, 1.01) << size << output << start;
      }
    }
  }
}

class YuvView : public testing::TestWithParam<std::tuple<int, bool, bool, ResizeMode>> {
 protected:
  // Pictures, each also converted.
  static const std::deque<std::pair<Painted, cv::Mat>>& pictures() {
    static const std::deque<std::pair<Painted, cv::Mat>> all = [] {
      std::deque<std::pair<Painted, cv::Mat>> made;  // which copies none
      for (const cv::Size size : {cv::Size(302, 200), cv::Size(20, 14)}) {
        for (const RawFormat format : {RawFormat::kYuyv, RawFormat::kNv12, RawFormat::kI420}) {
          Painted picture = painted(format, size, kEncodings[0], &gradient);
          const cv::Mat bgr = converted(picture);
          made.emplace_back(std::move(picture), bgr);
        }
      }
      return made;
    }();
    return all;
  }
};

TEST_P(YuvView, IsThatOfTheConvertedPicture) {
  const auto [rotation, hflip, vflip, mode] = GetParam();
  View view;
  view.rotation = rotation;
  view.hflip = hflip;
  view.vflip = vflip;
  view.roi = {0.11, 0.2, 0.6, 0.7};
  for (const auto& [picture, bgr] : pictures()) {
    for (const bool flip : {false, true}) {
      InputSpec spec = spec_of(48, 33, mode);
      spec.flip_x = flip;
      spec.layout = flip ? TensorLayout::kPlanar : TensorLayout::kChannelsLast;
      spec.channel_order = flip ? ChannelOrder::kBgr : ChannelOrder::kRgb;
      const Difference difference =
          compare(run(spec, view, picture.picture).values, run(spec, view, bgr).values);
      EXPECT_LE(difference.largest, 1.01);
      EXPECT_LE(difference.mean, 0.3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, YuvView,
                         testing::Combine(testing::Values(0, 90, 180, 270), testing::Bool(),
                                          testing::Bool(),
                                          testing::Values(ResizeMode::kCenterSquare,
                                                          ResizeMode::kStretch,
                                                          ResizeMode::kLetterbox)));

TEST(YuvPreprocessor, AnEvenAreaKeepsItsValue) {
  for (const YuvEncoding& encoding : kEncodings) {
    for (const double level : {0.0, 1.0, 127.0, 254.0, 255.0}) {
      const Exact exact(encoding);
      Painted picture(RawFormat::kYuyv, {640, 480}, encoding);
      const double luma = std::round(exact.to_yuv({level, level, level})[0]);
      picture.paint([&](int, int) { return Pixel{luma, 128, 128}; });
      const float expected = to_byte(exact.to_bgr({luma, 128, 128})[0]);
      for (const float value : run(spec_of(33, 47), {}, picture.picture).values) {
        ASSERT_NEAR(value, expected, 1e-3);
      }
    }
  }
}

TEST(YuvPreprocessor, WritesTheQuantizedBytesOfTheSameValues) {
  for (const RawFormat format : kFormats) {
    const Painted picture = painted(format, {90, 66}, kEncodings[1], &noise);
    InputSpec spec = spec_of(32, 27, ResizeMode::kLetterbox);
    const ImageTensor floats = run(spec, {}, picture.picture);
    spec.quantization = InputQuantization{1, -114, true};
    const ImageTensor out = run(spec, {}, picture.picture);
    EXPECT_TRUE(out.values.empty());
    ASSERT_EQ(out.bytes.size(), floats.values.size());
    for (std::size_t i = 0; i < out.bytes.size(); ++i) {
      ASSERT_EQ(out.bytes[i], spec.quantization->quantize(floats.values[i])) << i;
    }
  }
}

TEST(YuvPreprocessor, FollowsFormatsSizesEncodingsAndPixels) {
  const InputSpec spec = spec_of(32, 32);
  Preprocessor preprocessor(spec, {});
  ImageTensor out;
  for (const cv::Size size : {cv::Size(90, 66), cv::Size(64, 48)}) {
    for (const RawFormat format : kFormats) {
      for (const YuvEncoding& encoding : kEncodings) {
        const Painted picture = painted(format, size, encoding, &gradient, 4);
        preprocessor.run(picture.picture, out);
        EXPECT_EQ(out.values, run(spec, {}, picture.picture).values);
      }
      const cv::Mat bgr(size, CV_8UC3, cv::Scalar(1, 2, 3));
      preprocessor.run(bgr, out);
      EXPECT_EQ(out.values, run(spec, {}, bgr).values);
    }
  }
}

TEST(YuvPreprocessor, RefusesOtherFormatsAndEmptyPictures) {
  Painted empty(RawFormat::kYuyv, {2, 2}, {});
  empty.picture.height = 0;
  for (const Painted& wrong : {Painted(RawFormat::kBgr, {2, 2}, {}), empty}) {
    try {
      run(spec_of(8, 8), {}, wrong.picture);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    }
  }
}

TEST(Region, IsThePartOfTheFrameThatIsClassified) {
  const InputSpec spec = spec_of(10, 10);
  EXPECT_EQ(classified_region(spec, {}, {640, 480}), cv::Rect(80, 0, 480, 480));
  View view;
  view.roi = {0, 0, 0.5, 0.25};
  EXPECT_EQ(classified_region(spec_of(10, 10, ResizeMode::kStretch), view, {640, 480}),
            cv::Rect(0, 0, 320, 120));
  view.rotation = 90;  // the frame's left side becomes the top
  EXPECT_EQ(classified_region(spec_of(10, 10, ResizeMode::kLetterbox), view, {640, 480}),
            cv::Rect(0, 240, 160, 240));
}

}  // namespace
}  // namespace lookout

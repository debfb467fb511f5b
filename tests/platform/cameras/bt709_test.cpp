#include "platform/cameras/raw_converter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <opencv2/core.hpp>
#include <vector>

namespace lookout {
namespace {

constexpr int kPatchWidth = 6;
constexpr int kPatchHeight = 4;

struct Yuv {
  unsigned char y;
  unsigned char u;
  unsigned char v;
};

unsigned char to_byte(double value) { return static_cast<unsigned char>(std::lround(value)); }

// ITU-R BT.709-6, items 3.2 to 3.4.
Yuv yuv_of(const cv::Vec3b& bgr, bool full_range) {
  const double blue = bgr[0] / 255.0;
  const double red = bgr[2] / 255.0;
  const double luma = 0.2126 * red + 0.7152 * bgr[1] / 255.0 + 0.0722 * blue;
  const double u = (blue - luma) / 1.8556;
  const double v = (red - luma) / 1.5748;
  if (full_range) return {to_byte(255 * luma), to_byte(128 + 255 * u), to_byte(128 + 255 * v)};
  return {to_byte(16 + 219 * luma), to_byte(128 + 224 * u), to_byte(128 + 224 * v)};
}

using Bytes = std::vector<unsigned char>;

// The bytes that each plane repeats in a picture of one color.
std::vector<Bytes> units_of(RawFormat format, const Yuv& c) {
  switch (format) {
    case RawFormat::kYuyv:
      return {{c.y, c.u, c.y, c.v}};
    case RawFormat::kYvyu:
      return {{c.y, c.v, c.y, c.u}};
    case RawFormat::kUyvy:
      return {{c.u, c.y, c.v, c.y}};
    case RawFormat::kNv12:
      return {{c.y}, {c.u, c.v}};
    case RawFormat::kNv21:
      return {{c.y}, {c.v, c.u}};
    case RawFormat::kI420:
      return {{c.y}, {c.u}, {c.v}};
    default:  // kYv12
      return {{c.y}, {c.v}, {c.u}};
  }
}

// A picture of one color in memory, with padding behind each line.
Bytes draw(RawFormat format, const Yuv& color, RawPicture& picture) {
  constexpr unsigned char kPadding = 0xEE;
  picture.format = format;
  picture.width = kPatchWidth;
  picture.height = kPatchHeight;
  picture.stride = min_stride(format, kPatchWidth) + 4;
  Bytes memory(picture.stride * kPatchHeight * 3, kPadding);
  set_planes(memory.data(), picture);
  const std::vector<Bytes> units = units_of(format, color);
  for (std::size_t plane = 0; plane < units.size(); ++plane) {
    const std::size_t stride = plane_stride(picture, plane);
    const std::size_t length = stride - 4 / (plane > 0 && units.size() == 3 ? 2 : 1);
    for (std::size_t y = 0; y < (plane == 0 ? kPatchHeight : kPatchHeight / 2); ++y) {
      auto line = memory.begin() + (picture.planes[plane] - memory.data()) +
                  static_cast<std::ptrdiff_t>(y * stride);
      for (std::size_t x = 0; x < length; ++x) *line++ = units[plane][x % units[plane].size()];
    }
  }
  return memory;
}

class Bt709Test : public testing::TestWithParam<RawFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, Bt709Test,
                         testing::Values(RawFormat::kYuyv, RawFormat::kYvyu, RawFormat::kUyvy,
                                         RawFormat::kNv12, RawFormat::kNv21, RawFormat::kI420,
                                         RawFormat::kYv12));

TEST_P(Bt709Test, ColorsComeBack) {
  for (const bool full_range : {false, true}) {
    for (int corner = 0; corner < 27; ++corner) {
      const cv::Vec3b color(static_cast<unsigned char>(corner % 3 * 127),
                            static_cast<unsigned char>(corner / 3 % 3 * 127),
                            static_cast<unsigned char>(corner / 9 * 127));
      RawPicture picture;
      picture.encoding = {ColorMatrix::kBt709, full_range};
      const auto memory = draw(GetParam(), yuv_of(color, full_range), picture);
      cv::Mat bgr;
      convert_to_bgr(picture, bgr);
      ASSERT_EQ(bgr.size(), cv::Size(kPatchWidth, kPatchHeight));
      const cv::Mat expected(bgr.size(), CV_8UC3, cv::Scalar(color[0], color[1], color[2]));
      EXPECT_LE(cv::norm(bgr, expected, cv::NORM_INF), 2) << expected << bgr;
    }
  }
}

// Of a picture of the full range without padding.
cv::Mat converted(RawFormat format, const Bytes& memory, int width, int height) {
  RawPicture picture;
  picture.encoding = {ColorMatrix::kBt709, true};
  picture.format = format;
  picture.width = width;
  picture.height = height;
  picture.stride = min_stride(format, width);
  set_planes(memory.data(), picture);
  cv::Mat bgr;
  convert_to_bgr(picture, bgr);
  return bgr;
}

TEST(Bt709, EveryPixelComesToItsPlace) {
  constexpr unsigned char kGray = 128;  // of chroma
  for (const auto& [format, memory] :
       {std::pair(RawFormat::kNv12, Bytes{0, 1, 2, 3, 4, 5, 6, 7, kGray, kGray, kGray, kGray}),
        {RawFormat::kYuyv,
         {0, kGray, 1, kGray, 2, kGray, 3, kGray, 4, kGray, 5, kGray, 6, kGray, 7, kGray}},
        {RawFormat::kUyvy,
         {kGray, 0, kGray, 1, kGray, 2, kGray, 3, kGray, 4, kGray, 5, kGray, 6, kGray, 7}}}) {
    const cv::Mat bgr = converted(format, memory, /*width=*/4, /*height=*/2);
    for (int i = 0; i < 8; ++i) {
      const auto level = static_cast<unsigned char>(i);
      EXPECT_EQ(bgr.at<cv::Vec3b>(i / 4, i % 4), cv::Vec3b(level, level, level));
    }
  }
}

TEST(Bt709, EveryPairOfPixelsHasItsOwnColor) {
  constexpr unsigned char kLuma = 100;
  for (const auto& [format, memory] :
       {std::pair(RawFormat::kYuyv, Bytes{kLuma, 90, kLuma, 170, kLuma, 170, kLuma, 90}),
        {RawFormat::kUyvy, {90, kLuma, 170, kLuma, 170, kLuma, 90, kLuma}}}) {
    const cv::Mat bgr = converted(format, memory, /*width=*/4, /*height=*/1);
    const auto red_over_blue = [&bgr](int x) {
      return bgr.at<cv::Vec3b>(0, x)[2] - bgr.at<cv::Vec3b>(0, x)[0];
    };
    for (const int x : {0, 1}) EXPECT_GT(red_over_blue(x), 100);
    for (const int x : {2, 3}) EXPECT_LT(red_over_blue(x), -100);
  }
}

TEST(Bt709, APictureOfTheSameSizeKeepsItsMemory) {
  RawPicture picture;
  picture.encoding.matrix = ColorMatrix::kBt709;
  const auto memory = draw(RawFormat::kYuyv, {100, 100, 100}, picture);
  cv::Mat bgr;
  convert_to_bgr(picture, bgr);
  const auto* before = bgr.data;
  convert_to_bgr(picture, bgr);
  EXPECT_EQ(bgr.data, before);
}

}  // namespace
}  // namespace lookout

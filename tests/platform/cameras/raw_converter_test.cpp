#include "platform/cameras/raw_converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace lookout {
namespace {

constexpr int kWidth = 6;
constexpr int kHeight = 4;

// Memory as a camera lays it out: lines of `stride` bytes, whose padding is not of the picture.
class Memory {
 public:
  Memory(RawFormat format, std::size_t padding) {
    picture.format = format;
    picture.width = kWidth;
    picture.height = kHeight;
    picture.stride = min_stride(format, kWidth) + padding;
    for (std::size_t i = 0; i < plane_count(format); ++i) {
      // Exactly the promised bytes, so that a sanitizer sees reads beyond them.
      planes[i].assign(plane_size(format, kWidth, kHeight, picture.stride, i), 0xEE);
      picture.planes[i] = planes[i].data();
    }
  }

  void set(std::size_t plane, int line, const std::vector<unsigned char>& bytes) {
    const bool half = plane > 0 && plane_count(picture.format) == 3;
    const std::size_t stride = half ? picture.stride / 2 : picture.stride;
    std::copy(bytes.begin(), bytes.end(),
              planes[plane].begin() +
                  static_cast<std::ptrdiff_t>(static_cast<std::size_t>(line) * stride));
  }

  RawPicture picture;
  std::array<std::vector<unsigned char>, 3> planes;
};

std::vector<unsigned char> repeated(const std::vector<unsigned char>& unit, int times) {
  std::vector<unsigned char> line;
  for (int i = 0; i < times; ++i) line.insert(line.end(), unit.begin(), unit.end());
  return line;
}

cv::Mat converted(const RawPicture& picture) {
  cv::Mat bgr;
  convert_to_bgr(picture, bgr);
  return bgr;
}

void expect_color(const cv::Mat& bgr, const cv::Vec3b& color, int tolerance) {
  ASSERT_EQ(bgr.size(), cv::Size(kWidth, kHeight));
  ASSERT_EQ(bgr.type(), CV_8UC3);
  const cv::Mat expected(bgr.size(), CV_8UC3, cv::Scalar(color[0], color[1], color[2]));
  EXPECT_LE(cv::norm(bgr, expected, cv::NORM_INF), tolerance) << bgr;
}

class RawPictureTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Padding, RawPictureTest, testing::Values(0, 1, 26));

TEST_P(RawPictureTest, BgrIsCopied) {
  Memory memory(RawFormat::kBgr, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({10, 20, 30}, kWidth));
  expect_color(converted(memory.picture), {10, 20, 30}, 0);
}

TEST_P(RawPictureTest, RgbIsTurnedAround) {
  Memory memory(RawFormat::kRgb, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({10, 20, 30}, kWidth));
  expect_color(converted(memory.picture), {30, 20, 10}, 0);
}

// Orange by BT.601: R 255, G 128, B 0 is Y 145, U 48, V 198 of 16..235, or Y 151, U 43, V 202 of
// 0..255.
const cv::Vec3b kOrange(0, 128, 255);

TEST_P(RawPictureTest, Nv12) {
  Memory memory(RawFormat::kNv12, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({48, 198}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

TEST_P(RawPictureTest, Nv12OfFullRange) {
  Memory memory(RawFormat::kNv12, GetParam());
  memory.picture.encoding.full_range = true;
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({151}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({43, 202}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 4);
}

TEST_P(RawPictureTest, Yuyv) {
  Memory memory(RawFormat::kYuyv, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145, 48, 145, 198}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

TEST_P(RawPictureTest, YuyvOfFullRange) {
  Memory memory(RawFormat::kYuyv, GetParam());
  memory.picture.encoding.full_range = true;
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({151, 43, 151, 202}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 4);
}

TEST_P(RawPictureTest, Yvyu) {
  Memory memory(RawFormat::kYvyu, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145, 198, 145, 48}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

TEST_P(RawPictureTest, YvyuOfFullRange) {
  Memory memory(RawFormat::kYvyu, GetParam());
  memory.picture.encoding.full_range = true;
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({151, 202, 151, 43}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 4);
}

TEST_P(RawPictureTest, TheFourthByteOfBgrxIsLeftOut) {
  Memory memory(RawFormat::kBgrx, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({10, 20, 30, 99}, kWidth));
  expect_color(converted(memory.picture), {10, 20, 30}, 0);
}

TEST_P(RawPictureTest, Rgb565HasRedInItsHighestBits) {
  Memory memory(RawFormat::kRgb565, GetParam() * 2);
  // R 31, G 16 of 63, B 1.
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({0x01, 0xfa}, kWidth));
  expect_color(converted(memory.picture), {8, 65, 255}, 7);
}

TEST_P(RawPictureTest, GrayIsTakenAsItIs) {
  Memory memory(RawFormat::kGray, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({3}, kWidth));
  expect_color(converted(memory.picture), {3, 3, 3}, 0);
}

TEST_P(RawPictureTest, Uyvy) {
  Memory memory(RawFormat::kUyvy, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({48, 145, 198, 145}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

TEST_P(RawPictureTest, UyvyOfFullRange) {
  Memory memory(RawFormat::kUyvy, GetParam());
  memory.picture.encoding.full_range = true;
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({43, 151, 202, 151}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 4);
}

TEST_P(RawPictureTest, Nv21) {
  Memory memory(RawFormat::kNv21, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({198, 48}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

// Planes of their own for U and V, in either order.
class ThreePlanesTest : public RawPictureTest {};
INSTANTIATE_TEST_SUITE_P(Padding, ThreePlanesTest, testing::Values(0, 2, 26));

TEST_P(ThreePlanesTest, I420) {
  Memory memory(RawFormat::kI420, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({48}, kWidth / 2));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(2, y, repeated({198}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

TEST_P(ThreePlanesTest, I420OfFullRange) {
  Memory memory(RawFormat::kI420, GetParam());
  memory.picture.encoding.full_range = true;
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({151}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({43}, kWidth / 2));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(2, y, repeated({202}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 4);
}

TEST_P(ThreePlanesTest, Yv12) {
  Memory memory(RawFormat::kYv12, GetParam());
  for (int y = 0; y < kHeight; ++y) memory.set(0, y, repeated({145}, kWidth));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(1, y, repeated({198}, kWidth / 2));
  for (int y = 0; y < kHeight / 2; ++y) memory.set(2, y, repeated({48}, kWidth / 2));
  expect_color(converted(memory.picture), kOrange, 3);
}

// ITU-R BT.601-7 and BT.709-6.
cv::Vec3d exact_bgr(const YuvEncoding& encoding, const SampleLine& line, int x) {
  const bool bt709 = encoding.matrix == ColorMatrix::kBt709;
  const double red = bt709 ? 0.2126 : 0.299;
  const double blue = bt709 ? 0.0722 : 0.114;
  const double chroma = 255.0 / (encoding.full_range ? 255 : 224);
  const double black = encoding.full_range ? 0 : 16;
  const double y =
      (line.luma[x * line.luma_step] - black) * 255 / (encoding.full_range ? 255 : 219);
  const double u = (line.u[x / 2 * line.chroma_step] - 128) * chroma;
  const double v = (line.v[x / 2 * line.chroma_step] - 128) * chroma;
  const double r = y + 2 * (1 - red) * v;
  const double b = y + 2 * (1 - blue) * u;
  return {b, (y - red * r - blue * b) / (1 - red - blue), r};
}

// Pixels that fill vectors, and some that do not, of any values.
TEST(RawPicture, EveryYuvPixelIsTheExactOneRounded) {
  constexpr int kWide = 70;
  constexpr double kRounding = 0.52;
  cv::RNG random(1);
  for (const RawFormat format :
       {RawFormat::kYuyv, RawFormat::kYvyu, RawFormat::kUyvy, RawFormat::kNv12, RawFormat::kNv21,
        RawFormat::kI420, RawFormat::kYv12}) {
    RawPicture picture;
    picture.format = format;
    picture.width = kWide;
    picture.height = kHeight;
    picture.stride = min_stride(format, kWide);
    std::vector<unsigned char> memory(contiguous_size(picture));
    random.fill(memory, cv::RNG::UNIFORM, 0, 256);
    set_planes(memory.data(), picture);
    for (const ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709}) {
      for (const bool full_range : {false, true}) {
        picture.encoding = {matrix, full_range};
        const cv::Mat bgr = converted(picture);
        for (int i = 0; i < kWide * kHeight; ++i) {
          const cv::Vec3d exact =
              exact_bgr(picture.encoding, sample_line(picture, i / kWide), i % kWide);
          const auto& pixel = bgr.at<cv::Vec3b>(i / kWide, i % kWide);
          for (int channel = 0; channel < 3; ++channel) {
            ASSERT_NEAR(pixel[channel], std::clamp(exact[channel], 0.0, 255.0), kRounding)
                << static_cast<int>(format) << ' ' << i;
          }
        }
      }
    }
  }
}

TEST(RawPicture, PlanesFollowEachOther) {
  const std::array<unsigned char, 1000> memory{};
  RawPicture picture;
  picture.width = kWidth;
  picture.height = kHeight;
  picture.stride = 10;
  picture.format = RawFormat::kI420;
  set_planes(memory.data(), picture);
  EXPECT_EQ(picture.planes[0], memory.data());
  EXPECT_EQ(picture.planes[1], memory.data() + 40);
  EXPECT_EQ(picture.planes[2], memory.data() + 50);
  EXPECT_EQ(contiguous_size(picture), 58U);
  picture.format = RawFormat::kNv12;
  set_planes(memory.data(), picture);
  EXPECT_EQ(picture.planes[1], memory.data() + 40);
  EXPECT_EQ(contiguous_size(picture), 56U);
  picture.format = RawFormat::kYuyv;
  picture.stride = 16;
  EXPECT_EQ(contiguous_size(picture), 3U * 16 + 12);
}

TEST(RawPicture, EveryPixelComesToItsPlace) {
  Memory memory(RawFormat::kRgb, 5);
  cv::Mat expected(kHeight, kWidth, CV_8UC3);
  cv::randu(expected, 0, 256);
  for (int y = 0; y < kHeight; ++y) {
    cv::Mat rgb;
    cv::cvtColor(expected.row(y), rgb, cv::COLOR_BGR2RGB);
    memory.set(0, y, {rgb.datastart, rgb.dataend});
  }
  EXPECT_EQ(cv::norm(converted(memory.picture), expected, cv::NORM_INF), 0);
}

TEST(RawPicture, APictureOfTheSameSizeKeepsItsMemory) {
  const Memory memory(RawFormat::kYuyv, 0);
  cv::Mat bgr;
  convert_to_bgr(memory.picture, bgr);
  const auto* before = bgr.data;
  convert_to_bgr(memory.picture, bgr);
  EXPECT_EQ(bgr.data, before);
}

}  // namespace
}  // namespace lookout

#include "platform/pictures/png_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/pictures/decode_picture.h"
#include "tests/platform/pictures/memory_peak.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kPngWidth = 13;  // so that lines of 1, 2 and 4 bits end within a byte
constexpr int kPngHeight = 9;

enum Color : unsigned char { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

std::string big_endian(std::size_t number) {
  std::string bytes;
  for (const unsigned int shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<unsigned int>(body.size()));
  return big_endian(data.size()) + body + big_endian(sum);
}

std::size_t channels_of(Color color) {
  switch (color) {
    case kRgb:
      return 3;
    case kGrayAlpha:
      return 2;
    case kRgba:
      return 4;
    default:
      return 1;
  }
}

std::string deflated(const std::string& raw) {
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  packed.resize(size);
  return packed;
}

// A picture with different pixels. `before`, `after`: chunks around those.
std::string png_of(Color color, std::size_t bits, const std::string& before = "",
                   const std::string& after = "") {
  std::string lines;
  const std::size_t bytes = (kPngWidth * channels_of(color) * bits + 7) / 8;
  for (std::size_t y = 0; y < kPngHeight; ++y) {
    lines += '\0';  // no filter
    for (std::size_t i = 0; i < bytes; ++i) lines += static_cast<char>(i * 37 + y * 91 + 5);
  }
  const std::string header = big_endian(kPngWidth) + big_endian(kPngHeight) +
                             static_cast<char>(bits) + static_cast<char>(color) +
                             std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + before + chunk("IDAT", deflated(lines)) +
         after + chunk("IEND", "");
}

std::string palette() {
  std::string colors;
  for (int i = 0; i < 256 * 3; ++i) colors += static_cast<char>(i * 7);
  return chunk("PLTE", colors);
}

std::string orientation(char value) {
  const std::string tiff{"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0?\0\0\0\0\0\0", 26};
  std::string exif = tiff;
  exif[19] = value;
  return chunk("eXIf", exif);
}

class PngDecoderTest : public testing::Test {
 protected:
  // Without a word on stderr.
  static DecodedPicture read(const std::string& png) {
    DecodeLimits limits;
    limits.pixels = 1'000'000;
    DecodedPicture picture;
    testing::internal::CaptureStderr();
    decode_png(png, limits, picture);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    return picture;
  }

  void expect_as_opencv(const std::string& png, const std::string& what) const {
    SCOPED_TRACE(what);
    const DecodedPicture decoded = read(png);
    EXPECT_EQ(decoded.message, "");
    const cv::Mat expected = cv::imread(dir_.write("a.png", png), cv::IMREAD_COLOR);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(decoded.bgr.size(), expected.size());
    ASSERT_EQ(decoded.bgr.type(), CV_8UC3);
    EXPECT_EQ(cv::norm(decoded.bgr, expected, cv::NORM_INF), 0);
  }

  const TempDir dir_;
};

TEST_F(PngDecoderTest, PixelsAreThoseOfOpenCv) {
  for (const std::size_t bits : {1, 2, 4, 8, 16}) {
    expect_as_opencv(png_of(kGray, bits), "gray " + std::to_string(bits));
    if (bits <= 8)
      expect_as_opencv(png_of(kPalette, bits, palette()), "palette " + std::to_string(bits));
  }
  for (const std::size_t bits : {8, 16}) {
    for (const Color color : {kRgb, kGrayAlpha, kRgba}) {
      expect_as_opencv(png_of(color, bits), std::to_string(color) + " of " + std::to_string(bits));
    }
  }
  expect_as_opencv(png_of(kPalette, 8, palette() + chunk("tRNS", std::string(20, '\x40'))),
                   "palette with transparency");
  expect_as_opencv(png_of(kGray, 8, chunk("tRNS", std::string("\0\x05", 2))), "transparent gray");
}

TEST_F(PngDecoderTest, IsTurnedAsItsExifDataSay) {
  for (char value = 0; value <= 9; ++value) {
    expect_as_opencv(png_of(kRgb, 8, orientation(value)), "before " + std::to_string(value));
    expect_as_opencv(png_of(kRgb, 8, "", orientation(value)), "after " + std::to_string(value));
  }
  EXPECT_EQ(read(png_of(kRgb, 8, orientation(6))).bgr.size(), cv::Size(kPngHeight, kPngWidth));
}

TEST_F(PngDecoderTest, AMessageOfLibpngIsReturnedInsteadOfPrinted) {
  std::string png = png_of(kRgb, 8);
  png[png.find("IDAT") + 12] ^= 0x55;
  const DecodedPicture broken = read(png);
  EXPECT_EQ(broken.problem, DecodeProblem::kDamaged);
  EXPECT_THAT(broken.message, StartsWith("cannot be read as a picture: "));
  cv::Mat bgr;
  EXPECT_EQ(decode_picture("", dir_.write("a.png", png), 1'000'000, bgr), broken.message);
  const DecodedPicture warned = read(png_of(kRgb, 8, chunk("gAMA", "wrong")));
  EXPECT_EQ(warned.problem, DecodeProblem::kNone);
  EXPECT_THAT(warned.warning, HasSubstr("gAMA"));
}

TEST_F(PngDecoderTest, APictureThatIsCutAnywhereIsTruncated) {
  const std::string png = png_of(kRgb, 8);
  for (std::size_t size = 0; size < png.size(); ++size) {
    EXPECT_EQ(read(png.substr(0, size)).problem, DecodeProblem::kTruncated) << size;
  }
}

// libpng passes over other chunks to find the header.
TEST_F(PngDecoderTest, TheFirstChunkIsTheHeader) {
  std::string png = png_of(kRgb, 8);
  png.insert(8, chunk("xyZz", std::string(13, '\1')));
  const DecodedPicture picture = read(png);
  EXPECT_EQ(picture.problem, DecodeProblem::kDamaged);
  EXPECT_THAT(picture.message, HasSubstr("IHDR"));
}

// libpng would keep each one, with 8 MB.
TEST_F(PngDecoderTest, TextsTakeNoMemory) {
  const std::string text =
      chunk("zTXt", std::string("key\0\0", 5) + deflated(std::string(7'990'000, 'a')));
  std::string texts;
  for (int i = 0; i < 30; ++i) texts += text;
  const std::string png = png_of(kRgb, 8, texts, texts);
  const MemoryPeak peak;
  EXPECT_EQ(read(png).problem, DecodeProblem::kNone);
  EXPECT_LT(peak.growth(), 40'000'000);
}

// libpng inflates them all.
TEST_F(PngDecoderTest, PixelsBehindThePixelsAreRefused) {
  std::string png = png_of(kRgb, 8);
  EXPECT_EQ(read(png).problem, DecodeProblem::kNone);
  const std::string lines(kPngHeight * (kPngWidth * 3 + 1), '\0');
  const std::string header = png.substr(0, png.find("IDAT") - 4);
  png =
      header + chunk("IDAT", deflated(lines + std::string(200'000'000, '\0'))) + chunk("IEND", "");
  const DecodedPicture picture = read(png);
  EXPECT_EQ(picture.problem, DecodeProblem::kDamaged);
  EXPECT_THAT(picture.message, HasSubstr("behind its pixels"));
}

TEST_F(PngDecoderTest, ALargePictureOfAClientIsReducedToMeans) {
  cv::Mat stripes(2001, 3001, CV_8UC3, cv::Scalar(10, 20, 30));
  for (int x = 0; x < stripes.cols; x += 2) stripes.col(x).setTo(cv::Scalar(110, 120, 130));
  std::vector<unsigned char> png;
  cv::imencode(".png", stripes, png);
  DecodeLimits limits;
  limits.pixels = 25'000'000;
  limits.reduce = true;
  DecodedPicture picture;
  const std::string_view bytes(reinterpret_cast<const char*>(png.data()), png.size());
  decode_png(bytes, limits, picture);
  ASSERT_EQ(picture.problem, DecodeProblem::kNone) << picture.message;
  const cv::Mat expected(1000, 1500, CV_8UC3, cv::Scalar(60, 70, 80));
  ASSERT_EQ(picture.bgr.size(), expected.size());
  EXPECT_EQ(cv::norm(picture.bgr, expected, cv::NORM_INF), 0);
}

TEST_F(PngDecoderTest, ProfilesAndUnknownChunksAreIgnored) {
  const std::string others = chunk("iCCP", "wrong") + chunk("sPLT", "wrong") +
                             chunk("iTXt", "wrong") + chunk("tEXt", "wrong") +
                             chunk("xyZz", "wrong");
  expect_as_opencv(png_of(kRgb, 8, others, others), "other chunks");
}

}  // namespace
}  // namespace lookout

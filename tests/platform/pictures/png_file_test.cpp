#include "platform/pictures/png_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/pictures/decode_picture.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;

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

class PngFileTest : public testing::Test {
 protected:
  // Without a word on stderr.
  DecodedFile read(const std::string& png) const {
    testing::internal::CaptureStderr();
    const auto read = read_png_file(dir_.write("a.png", png));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_TRUE(read);
    return read.value_or(DecodedFile());
  }

  void expect_as_opencv(const std::string& png, const std::string& what) const {
    SCOPED_TRACE(what);
    const DecodedFile decoded = read(png);
    EXPECT_EQ(decoded.error, "");
    const cv::Mat expected = cv::imread(dir_ / "a.png", cv::IMREAD_COLOR);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(decoded.bgr.size(), expected.size());
    ASSERT_EQ(decoded.bgr.type(), CV_8UC3);
    EXPECT_EQ(cv::norm(decoded.bgr, expected, cv::NORM_INF), 0);
  }

  const TempDir dir_;
};

TEST_F(PngFileTest, PixelsAreThoseOfOpenCv) {
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

TEST_F(PngFileTest, IsTurnedAsItsExifDataSay) {
  for (char value = 0; value <= 9; ++value) {
    expect_as_opencv(png_of(kRgb, 8, orientation(value)), "before " + std::to_string(value));
    expect_as_opencv(png_of(kRgb, 8, "", orientation(value)), "after " + std::to_string(value));
  }
  EXPECT_EQ(read(png_of(kRgb, 8, orientation(6))).bgr.size(), cv::Size(kPngHeight, kPngWidth));
}

TEST_F(PngFileTest, AMessageOfLibpngIsReturnedInsteadOfPrinted) {
  std::string png = png_of(kRgb, 8);
  png[png.find("IDAT") + 12] ^= 0x55;
  const DecodedFile damaged = read(png);
  EXPECT_TRUE(damaged.bgr.empty());
  EXPECT_NE(damaged.error, "");
  EXPECT_FALSE(damaged.truncated);
  cv::Mat bgr;
  EXPECT_EQ(decode_picture("", dir_ / "a.png", 1'000'000, bgr),
            "cannot be read as a picture: " + damaged.error);
  const DecodedFile warned = read(png_of(kRgb, 8, chunk("gAMA", "wrong")));
  EXPECT_FALSE(warned.bgr.empty());
  EXPECT_THAT(warned.warning, HasSubstr("gAMA"));
}

TEST_F(PngFileTest, APictureThatIsCutAnywhereHasNoPixels) {
  const std::string png = png_of(kRgb, 8);
  for (std::size_t size = 8; size < png.size(); ++size) {
    const DecodedFile cut = read(png.substr(0, size));
    EXPECT_TRUE(cut.truncated) << size;
    EXPECT_TRUE(cut.bgr.empty()) << size;
  }
  EXPECT_FALSE(read_png_file(dir_.write("b.png", png.substr(0, 7))));
  EXPECT_FALSE(read_png_file(dir_ / "none.png"));
}

}  // namespace
}  // namespace lookout

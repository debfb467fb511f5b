#include "platform/pictures/opencv_decoder.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "platform/pictures/decode_picture.h"
#include "platform/pictures/picture_format.h"
#include "platform/sources/picture_source.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

constexpr int kFullWidth = 300;
constexpr int kFullHeight = 200;

struct Format {
  const char* name;
  std::vector<int> parameters{};
};

// Those that this OpenCV can write.
std::vector<Format> formats() {
  std::vector<Format> all{{"a.jpg"},
                          {"progressive.jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
                          {"a.png"},
                          {"lossy.webp", {cv::IMWRITE_WEBP_QUALITY, 50}},
                          {"lossless.webp", {cv::IMWRITE_WEBP_QUALITY, 101}},
                          {"a.tif"},
                          {"a.bmp"}};
  const auto lacking = [](const Format& format) { return !cv::haveImageWriter(format.name); };
  all.erase(std::remove_if(all.begin(), all.end(), lacking), all.end());
  return all;
}

void write_as(const std::string& path, const Format& format) {
  ASSERT_TRUE(cv::imwrite(path, cv::Mat(kFullHeight, kFullWidth, CV_8UC3, cv::Scalar::all(0.5)),
                          format.parameters))
      << path;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// That of all pictures here.
void expect_size(const std::string& bytes, const std::string& what) {
  const auto size = picture_size(bytes);
  ASSERT_TRUE(size) << what;
  EXPECT_EQ(size->width, kFullWidth) << what;
  EXPECT_EQ(size->height, kFullHeight) << what;
}

TEST(PictureSize, IsThatOfTheHeader) {
  const TempDir dir;
  for (const Format& format : formats()) {
    const std::string path = dir / format.name;
    write_as(path, format);
    const std::string bytes = bytes_of(path);
    const PictureFormat kind = picture_format(bytes);
    if (kind == PictureFormat::kJpeg || kind == PictureFormat::kPng ||
        kind == PictureFormat::kWebp) {
      EXPECT_FALSE(picture_size(bytes)) << "their decoders tell it";
      DecodeLimits limits;
      limits.pixels = std::int64_t{kFullWidth} * kFullHeight;
      EXPECT_EQ(decode_bytes(bytes, limits).bgr.size(), cv::Size(kFullWidth, kFullHeight));
    } else {
      expect_size(bytes, format.name);
    }
  }
}

TEST(PictureSize, OfOtherFilesIsUnknown) {
  for (const std::string& bytes :
       {std::string(), std::string("\xff\xd8\xff"), std::string("RIFF....WEBPVP9 ........"),
        std::string(64, '\0'), std::string("P5\nwide"), std::string("II*\0\xff\xff\xff\xff", 8),
        "\xff\xd8\xff" + std::string(64, 'x'), std::string("BM"), "BM" + std::string(64, '\0')}) {
    EXPECT_FALSE(picture_size(bytes)) << bytes;
  }
}

// A number as TIFF writes it on little-endian machines.
std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// What follows a TIFF's fields, as a further one, is none; nor is one that is there again, since
// libtiff takes the first.
TEST(PictureSize, OfATiffHasAsManyFieldsAsItSays) {
  constexpr int kWide = (1 << 24) + 30;  // all four bytes count
  for (const bool big : {false, true}) {
    const int number = big ? 8 : 4;
    const auto field = [=](std::uint64_t tag, std::uint64_t value) {
      constexpr int kLong = 4;
      return little(tag, 2) + little(kLong, 2) + little(1, number) + little(value, number);
    };
    const std::string header =
        big ? "II+" + little(0, 1) + little(8, 2) + little(0, 2) : std::string("II*") + '\0';
    std::string file = header + little(big ? 16 : 8, number) + little(6, big ? 8 : 2);
    file += field(256, kWide) + field(256, 4) + field(257, 20) + field(262, 1) + field(273, 8) +
            field(279, 1) + field(256, 999);
    const auto size = picture_size(file);
    ASSERT_TRUE(size) << big;
    EXPECT_EQ(size->width, kWide) << big;
    EXPECT_EQ(size->height, 20) << big;
  }
}

// The decoder allocates memory for a tile, whatever the picture's size.
TEST(PictureSize, OfATiffIsAtLeastThatOfATile) {
  const auto field = [](std::uint64_t tag, std::uint64_t value) {
    constexpr int kLong = 4;
    return little(tag, 2) + little(kLong, 2) + little(1, 4) + little(value, 4);
  };
  const std::string file = "II*\0"s + little(8, 4) + little(8, 2) + field(256, 64) +
                           field(257, 48) + field(262, 1) + field(277, 1) + field(322, 16992) +
                           field(323, 16) + field(324, 8) + field(325, 1) + little(0, 4);
  const auto size = picture_size(file);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 16992);
  EXPECT_EQ(size->height, 48);
}

TEST(PictureSize, OfATiffIsReadInItsByteOrder) {
  expect_size(
      "MM\0*\0\0\0\x08\0\x05"
      "\x01\0\0\x03\0\0\0\x01\x01\x2c\0\0"
      "\x01\x01\0\x04\0\0\0\x01\0\0\0\xc8"
      "\x01\x06\0\x03\0\0\0\x01\0\x01\0\0"
      "\x01\x11\0\x04\0\0\0\x01\0\0\0\x08"
      "\x01\x17\0\x04\0\0\0\x01\0\0\0\x01"
      "\0\0\0\0"s,
      "big-endian");
}

TEST(PictureSize, APictureBeyondTheLimitIsRefusedAndNotDecoded) {
  const TempDir dir;
  PictureOptions options;
  options.max_pixels = kFullWidth * kFullHeight - 1;
  for (const Format& format : formats()) {
    const std::string path = dir / format.name;
    write_as(path, format);
    PictureSource source(path, options);
    Frame frame;
    expect_error(ErrorKind::kNoInput,
                 path +
                     " is too large: 300x200 pixels, the limit is 0.059999 megapixels "
                     "(camera.max-pixels)",
                 [&] { source.read(frame, kTimeout); });
  }
  options.max_pixels = kFullWidth * kFullHeight;
  for (const Format& format : formats()) {
    PictureSource source(dir / format.name, options);
    Frame frame;
    EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame) << format.name;
  }
}

// 32000x32000 pixels of one bit, in 125 KB.
TEST(PictureSize, TheDefaultLimitIsAHundredMegapixels) {
  const TempDir dir;
  const std::string header("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x7d\0\0\0\x7d\0\1\0\0\0\0", 29);
  PictureSource source(dir.write("large.png", header));
  Frame frame;
  expect_error(ErrorKind::kNoInput,
               HasSubstr("is too large: 32000x32000 pixels, the limit is 100 megapixels"),
               [&] { source.read(frame, kTimeout); });
}

// The product of the sides of a damaged header is more than 64 bits hold.
TEST(PictureSize, NoHeaderIsTooLargeForTheLimit) {
  const TempDir dir;
  const std::string header(
      "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0\0\0", 29);
  PictureSource source(dir.write("larger.png", header));
  Frame frame;
  expect_error(ErrorKind::kNoInput, HasSubstr("is too large: 4294967295x4294967295 pixels"),
               [&] { source.read(frame, kTimeout); });
}

}  // namespace
}  // namespace lookout

#include "platform/pictures/picture_size.h"

#include <algorithm>
#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

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
                          {"a.bmp"},
                          {"a.jp2"},
                          {"a.ppm"},
                          {"text.pgm", {cv::IMWRITE_PXM_BINARY, 0}},
                          {"a.pam"},
                          {"a.ras"},
                          {"a.hdr"},
                          {"a.pfm"}};
  const auto lacking = [](const Format& format) { return !cv::haveImageWriter(format.name); };
  all.erase(std::remove_if(all.begin(), all.end(), lacking), all.end());
  return all;
}

void write_as(const std::string& path, const Format& format) {
  const std::string name = format.name;
  const bool is_float = name == "a.hdr" || name == "a.pfm";
  const bool is_gray = name == "text.pgm";
  const int type = is_float ? CV_32FC3 : is_gray ? CV_8UC1 : CV_8UC3;
  ASSERT_TRUE(cv::imwrite(path, cv::Mat(kFullHeight, kFullWidth, type, cv::Scalar::all(0.5)),
                          format.parameters))
      << path;
}

// That of all pictures here.
void expect_size(const std::string& path) {
  const auto size = picture_size(path);
  ASSERT_TRUE(size) << path;
  EXPECT_EQ(size->width, kFullWidth) << path;
  EXPECT_EQ(size->height, kFullHeight) << path;
}

TEST(PictureSize, IsThatOfTheHeaderInEveryFormat) {
  const TempDir dir;
  for (const Format& format : formats()) {
    const std::string path = dir / format.name;
    write_as(path, format);
    expect_size(path);
  }
}

TEST(PictureSize, OfOtherFilesIsUnknown) {
  const TempDir dir;
  for (const std::string& bytes :
       {std::string(), std::string("\xff\xd8\xff"), std::string("RIFF....WEBPVP9 ........"),
        std::string(64, '\0'), std::string("P5\nwide"), std::string("II*\0\xff\xff\xff\xff", 8),
        "\xff\xd8\xff" + std::string(64, 'x')}) {
    EXPECT_FALSE(picture_size(dir.write("a", bytes))) << bytes;
  }
}

// ISO/IEC 23008-12, 6.5.3: each item has its size, those of a grid's parts, too.
TEST(PictureSize, OfAnAvifIsThatOfItsLargestItem) {
  const auto item = [](std::string size) { return "\0\0\0\x14ispe\0\0\0\0"s + std::move(size); };
  const TempDir dir;
  const std::string path =
      dir.write("a.avif",
                "\0\0\0\x10"
                "ftypavif\0\0\0\0"s +
                    item("\0\0\0\x40\0\0\0\x40"s) + item("\0\0\x01\x2c\0\0\0\xc8"s) +
                    item("\0\0\0\x40\0\0\0\x40"s));
  expect_size(path);
}

// A number as TIFF writes it on little-endian machines.
std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// What follows a TIFF's two fields, as a third one, is none.
TEST(PictureSize, OfATiffHasAsManyFieldsAsItSays) {
  constexpr int kWide = (1 << 24) + 30;  // all four bytes count
  const TempDir dir;
  for (const bool big : {false, true}) {
    const int number = big ? 8 : 4;
    const auto field = [=](std::uint64_t tag, std::uint64_t value) {
      constexpr int kLong = 4;
      return little(tag, 2) + little(kLong, 2) + little(1, number) + little(value, number);
    };
    const std::string header =
        big ? "II+" + little(0, 1) + little(8, 2) + little(0, 2) : std::string("II*") + '\0';
    std::string file = header + little(big ? 16 : 8, number) + little(2, big ? 8 : 2);
    file += field(256, kWide) + field(257, 20) + field(256, 999);
    const std::string path = dir.write("a.tif", file);
    const auto size = picture_size(path);
    ASSERT_TRUE(size) << big;
    EXPECT_EQ(size->width, kWide) << big;
    EXPECT_EQ(size->height, 20) << big;
  }
}

TEST(PictureSize, OfATiffIsReadInItsByteOrder) {
  const TempDir dir;
  const std::string path = dir.write("a.tif",
                                     "MM\0*\0\0\0\x08\0\x02"
                                     "\x01\0\0\x03\0\0\0\x01\x01\x2c\0\0"
                                     "\x01\x01\0\x04\0\0\0\x01\0\0\0\xc8"s);
  expect_size(path);
}

// OpenEXR's attribute dataWindow: its size, then the first and the last pixel.
TEST(PictureSize, OfAnExrIsThatOfItsWindow) {
  const TempDir dir;
  const std::string path = dir.write(
      "a.exr", "\x76\x2f\x31\x01\x02\0\0\0dataWindow\0box2i\0"s + little(16, 4) + little(5, 4) +
                   little(7, 4) + little(5 + kFullWidth - 1, 4) + little(7 + kFullHeight - 1, 4));
  expect_size(path);
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

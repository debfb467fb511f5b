#include "platform/pictures/decode_picture.h"

#include <gmock/gmock.h>

#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "platform/sources/test_pattern.h"
#include "tests/platform/pictures/memory_peak.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMegapixel = 1'000'000;
#ifdef LOOKOUT_SANITIZED  // which takes memory of its own for each byte
constexpr std::int64_t kFewBytes = std::numeric_limits<std::int64_t>::max();
#else
constexpr std::int64_t kFewBytes = 40'000'000;
#endif
constexpr DecodeProblem kTooLarge = DecodeProblem::kTooManyPixels;
const std::string kStartMarker = "\xff\xd8";
const std::string kEndMarker = "\xff\xd9";

// As for clients.
DecodeLimits limits(std::int64_t pixels = 25 * kMegapixel) {
  DecodeLimits limits;
  limits.pixels = pixels;
  limits.side = 16384;
  limits.reduce = true;
  return limits;
}

std::string bytes_of(const cv::Mat& picture, const char* extension,
                     const std::vector<int>& parameters = {}) {
  std::vector<unsigned char> bytes;
  cv::imencode(extension, picture, bytes, parameters);
  return {bytes.begin(), bytes.end()};
}

std::string number(int value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 0xff)};
}

std::string segment(unsigned char marker, const std::string& content) {
  return std::string{'\xff', static_cast<char>(marker)} +
         number(static_cast<int>(content.size()) + 2) + content;
}

constexpr unsigned char kBaseline = 0xc0;
constexpr unsigned char kProgressive = 0xc2;

std::string frame(unsigned char kind, int width, int height) {
  return segment(kind, '\x8' + number(height) + number(width) + std::string("\1\1\x11\0", 4));
}

// Of the coefficients from `first` to `last`.
std::string scan(int first, int last) {
  return segment(
      0xda, std::string("\1\1\0", 3) + static_cast<char>(first) + static_cast<char>(last) + '\0');
}

// Gray, with Huffman tables of one code, "0": of `dc` and `ac`.
std::string header(unsigned char kind, int width, int height, char ac = 0) {
  const std::string one_code = std::string("\1", 1) + std::string(15, '\0');
  return segment(0xdb, '\0' + std::string(64, '\1')) + frame(kind, width, height) +
         segment(0xc4, '\0' + one_code + '\0') + segment(0xc4, '\x10' + one_code + ac);
}

// Without pixels: libjpeg takes them for gray, with a warning.
std::string empty_jpeg(unsigned char kind, int width, int height) {
  const int last = kind == kProgressive ? 0 : 63;
  return kStartMarker + header(kind, width, height) + scan(0, last) + std::string(2, '\0') +
         kEndMarker;
}

// A large picture, which a reader that takes 0xff 0x00 for a segment passes over to a small one.
std::string two_sizes_jpeg(int width, int height) {
  const std::string large = header(kBaseline, width, height) + scan(0, 63) + std::string(2, '\0');
  const std::string small = segment(0xfe, frame(kBaseline, 100, 100));
  const std::string passed = large + small.substr(0, 4);
  return kStartMarker + std::string("\xff\0", 2) + number(static_cast<int>(passed.size()) + 2) +
         passed + small.substr(4) + kEndMarker;
}

// So many scans, each of a few bytes, over a picture of 25 megapixels.
std::string scans_jpeg(int scans) {
  constexpr int kSide = 5000;
  constexpr char kRun = '\xe0';  // of 2^14 blocks and more, as 14 bits say
  const std::string run = std::string("\x7f\xff\x00", 3) + "\xfe";
  std::string jpeg =
      kStartMarker + header(kProgressive, kSide, kSide, kRun) + scan(0, 0) + std::string(2, '\0');
  for (int i = 0; i < scans; ++i) jpeg += scan(1, 63) + run;
  return jpeg + kEndMarker;
}

cv::Mat noise(int width, int height) {
  cv::Mat bgr(height, width, CV_8UC3);
  draw_pattern(Pattern::kNoise, bgr);
  return bgr;
}

TEST(DecodeBytes, ReadsFiveFormatsAsOpenCv) {
  const TempDir dir;
  for (const char* extension : {".jpg", ".png", ".webp", ".tif", ".bmp"}) {
    const std::string bytes = bytes_of(noise(203, 101), extension);
    const DecodedPicture picture = decode_bytes(bytes, limits());
    ASSERT_EQ(picture.problem, DecodeProblem::kNone) << extension << picture.message;
    const cv::Mat expected = cv::imread(dir.write("a", bytes), cv::IMREAD_COLOR);
    EXPECT_EQ(cv::norm(picture.bgr, expected, cv::NORM_INF), 0) << extension;
  }
}

// The colors of printers: coefficients of one pixel's block that are not all zero.
TEST(DecodeBytes, ReadsACmykJpegAsOpenCv) {
  const std::string one_code = std::string("\1", 1) + std::string(15, '\0');
  const std::string components("\4\1\x11\0\2\x11\0\3\x11\0\4\x11\0", 13);
  const std::string jpeg = kStartMarker + segment(0xdb, '\0' + std::string(64, '\x40')) +
                           segment(kBaseline, '\x8' + number(8) + number(8) + components) +
                           segment(0xc4, '\0' + one_code + '\4') +
                           segment(0xc4, '\x10' + one_code + '\0') +
                           segment(0xda, std::string("\4\1\0\2\0\3\0\4\0\0\x3f\0", 12)) +
                           std::string("\x41\x14\x69", 3) + kEndMarker;
  const TempDir dir;
  const cv::Mat expected = cv::imread(dir.write("a.jpg", jpeg), cv::IMREAD_COLOR);
  const DecodedPicture picture = decode_bytes(jpeg, limits());
  ASSERT_EQ(picture.problem, DecodeProblem::kNone) << picture.message;
  ASSERT_EQ(picture.bgr.size(), expected.size());
  EXPECT_EQ(cv::norm(picture.bgr, expected, cv::NORM_INF), 0);
}

TEST(DecodeBytes, ReadsNoOtherFormat) {
  for (const char* extension : {".jp2", ".ppm", ".ras", ".pam"}) {
    if (!cv::haveImageWriter(extension)) continue;
    const DecodedPicture picture = decode_bytes(bytes_of(noise(64, 64), extension), limits());
    EXPECT_EQ(picture.problem, DecodeProblem::kUnsupported) << extension;
    EXPECT_THAT(picture.message, HasSubstr("which is not read")) << extension;
  }
  EXPECT_EQ(decode_bytes("", limits()).problem, DecodeProblem::kUnsupported);
  EXPECT_EQ(decode_bytes("text", limits()).message, "cannot be read as a picture");
}

TEST(DecodeBytes, TheLimitsAreThoseOfEveryFormat) {
  for (const char* extension : {".jpg", ".png", ".webp", ".tif", ".bmp"}) {
    const std::string bytes = bytes_of(noise(30, 20), extension);
    DecodeLimits tight;
    tight.pixels = 599;
    EXPECT_EQ(decode_bytes(bytes, tight).problem, kTooLarge) << extension;
    tight.pixels = 600;
    EXPECT_EQ(decode_bytes(bytes, tight).problem, DecodeProblem::kNone) << extension;
    tight.side = 29;
    tight.key = "http.max-pixels";
    const DecodedPicture picture = decode_bytes(bytes, tight);
    EXPECT_EQ(picture.problem, kTooLarge) << extension;
    EXPECT_TRUE(picture.bgr.empty()) << extension;
    EXPECT_EQ(
        picture.message,
        "is too large: 30x20 pixels, the limit is 0.0006 megapixels (http.max-pixels), and 29 "
        "a side")
        << extension;
  }
}

TEST(DecodeBytes, TheSizeIsThatWhichIsDecoded) {
  const MemoryPeak peak;
  EXPECT_EQ(decode_bytes(two_sizes_jpeg(20000, 20000), limits()).problem, kTooLarge);
  EXPECT_EQ(decode_bytes(two_sizes_jpeg(65500, 16390), limits()).problem, kTooLarge);
  DecodeLimits of_files;
  of_files.pixels = 100 * kMegapixel;
  EXPECT_EQ(decode_bytes(two_sizes_jpeg(20000, 20000), of_files).problem, kTooLarge);
  EXPECT_EQ(decode_bytes(two_sizes_jpeg(300, 200), limits()).bgr.size(), cv::Size(300, 200));
  EXPECT_LT(peak.growth(), kFewBytes);
}

TEST(DecodeBytes, BytesBetweenSegmentsHideNoSize) {
  std::string jpeg = empty_jpeg(kBaseline, 12000, 12000);
  jpeg.insert(jpeg.find("\xff\xc0"), "zz");
  DecodeLimits of_files;
  of_files.pixels = 100 * kMegapixel;
  EXPECT_EQ(decode_bytes(jpeg, of_files).problem, kTooLarge);
}

TEST(DecodeBytes, AJpegWithThousandsOfScansIsRefusedAtOnce) {
  for (const bool reduce : {false, true}) {
    DecodeLimits some = limits();
    some.reduce = reduce;
    const MemoryPeak peak;
    const DecodedPicture picture = decode_bytes(scans_jpeg(2000), some);
    EXPECT_EQ(picture.problem, DecodeProblem::kDamaged);
    EXPECT_THAT(picture.message, HasSubstr("too many scans"));
    EXPECT_LT(peak.growth(), 10'000'000);
  }
}

// The first scan is of the DC coefficients.
TEST(DecodeBytes, AJpegMayHaveAHundredScans) {
  DecodeLimits of_files = limits();
  of_files.reduce = false;
  EXPECT_EQ(decode_bytes(scans_jpeg(99), of_files).problem, DecodeProblem::kNone);
  EXPECT_EQ(decode_bytes(scans_jpeg(100), of_files).problem, DecodeProblem::kDamaged);
}

// What is behind the end of a picture belongs to another one, as some phones store it.
TEST(DecodeBytes, ScansAreThoseOfThePicture) {
  const std::string progressive =
      bytes_of(noise(64, 48), ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  std::string many = progressive;
  for (int i = 0; i < 20; ++i) many += progressive;
  EXPECT_EQ(decode_bytes(many, limits()).problem, DecodeProblem::kNone);
}

TEST(DecodeBytes, DecodingIsGivenUpAtTheNextRow) {
  for (const std::string& bytes :
       {bytes_of(noise(64, 480), ".jpg"), bytes_of(noise(64, 480), ".png"),
        bytes_of(noise(64, 480), ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1})}) {
    for (const int last : {1, 20}) {
      int calls = 0;
      DecodeLimits some = limits();
      some.cancelled = [&] { return ++calls == last; };
      const DecodedPicture picture = decode_bytes(bytes, some);
      EXPECT_EQ(picture.problem, DecodeProblem::kCancelled);
      EXPECT_TRUE(picture.bgr.empty());
      EXPECT_EQ(calls, last);
    }
    int rows = 0;
    DecodeLimits some = limits();
    some.cancelled = [&] { return ++rows < 0; };
    EXPECT_EQ(decode_bytes(bytes, some).problem, DecodeProblem::kNone);
    EXPECT_GE(rows, 480);
  }
}

TEST(DecodeBytes, APhonesPictureIsTakenAtAReducedScale) {
  const MemoryPeak peak;
  const DecodedPicture phone = decode_bytes(empty_jpeg(kBaseline, 8064, 6048), limits());
  EXPECT_EQ(phone.problem, DecodeProblem::kNone) << phone.message;
  EXPECT_EQ(phone.bgr.size(), cv::Size(2016, 1512));
  EXPECT_LT(peak.growth(), kFewBytes);
  EXPECT_EQ(decode_bytes(empty_jpeg(kBaseline, 4000, 3000), limits()).bgr.size(),
            cv::Size(2000, 1500));
  EXPECT_EQ(decode_bytes(empty_jpeg(kBaseline, 4000, 2000), limits()).bgr.size(),
            cv::Size(2000, 1000));
  EXPECT_EQ(decode_bytes(empty_jpeg(kBaseline, 2000, 2000), limits()).bgr.size(),
            cv::Size(2000, 2000));
  EXPECT_EQ(decode_bytes(empty_jpeg(kBaseline, 10000, 10001), limits()).problem, kTooLarge);
  DecodeLimits whole = limits(50 * kMegapixel);
  whole.reduce = false;
  EXPECT_EQ(decode_bytes(empty_jpeg(kBaseline, 8064, 6048), whole).bgr.size(),
            cv::Size(8064, 6048));
}

TEST(DecodeBytes, ALargeWebpOfAClientIsReducedToo) {
  const cv::Mat white(2000, 3000, CV_8UC3, cv::Scalar::all(255));
  std::vector<unsigned char> webp;
  cv::imencode(".webp", white, webp, {cv::IMWRITE_WEBP_QUALITY, 80});
  const std::string_view bytes(reinterpret_cast<const char*>(webp.data()), webp.size());
  EXPECT_EQ(decode_bytes(bytes, limits()).bgr.size(), cv::Size(1500, 1000));
}

// Its coefficients are kept, whatever the scale.
TEST(DecodeBytes, AProgressiveJpegOfAClientTakesLittleMemory) {
  EXPECT_EQ(decode_bytes(empty_jpeg(kProgressive, 8064, 6048), limits()).problem, kTooLarge);
  const MemoryPeak peak;
  const DecodedPicture large = decode_bytes(empty_jpeg(kProgressive, 5000, 5000), limits());
  EXPECT_EQ(large.problem, kTooLarge);
  EXPECT_THAT(large.message, HasSubstr("send it as a baseline JPEG"));
  EXPECT_EQ(decode_bytes(empty_jpeg(kProgressive, 4096, 3072), limits()).bgr.size(),
            cv::Size(2048, 1536));
  EXPECT_LT(peak.growth(), kFewBytes);
  DecodeLimits of_files = limits();
  of_files.reduce = false;
  EXPECT_EQ(decode_bytes(empty_jpeg(kProgressive, 5000, 5000), of_files).bgr.size(),
            cv::Size(5000, 5000));
}

TEST(DecodeBytes, AProgressivePictureOfAPhoneIsTaken) {
  const cv::Mat gray(3024, 4032, CV_8UC3, cv::Scalar::all(128));
  const std::string jpeg = bytes_of(gray, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1});
  const MemoryPeak peak;
  const DecodedPicture picture = decode_bytes(jpeg, limits());
  EXPECT_EQ(picture.bgr.size(), cv::Size(1008, 756)) << picture.message;
  EXPECT_LT(peak.growth(), kFewBytes);
}

TEST(DecodeBytes, AReducedPictureLooksLikeTheWholeOne) {
  cv::Mat drawn(3000, 4000, CV_8UC3);
  draw_pattern(Pattern::kCross, drawn);
  const std::string jpeg = bytes_of(drawn, ".jpg");
  cv::Mat expected;
  cv::resize(drawn, expected, cv::Size(2000, 1500), 0, 0, cv::INTER_AREA);
  const DecodedPicture picture = decode_bytes(jpeg, limits());
  ASSERT_EQ(picture.bgr.size(), expected.size());
  EXPECT_LT(cv::norm(picture.bgr, expected, cv::NORM_L1) / static_cast<double>(expected.total()),
            3.0);
}

}  // namespace
}  // namespace lookout

// JPEGs as cameras send them.
#include "platform/pictures/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <utility>
#include <vector>

#include "platform/sources/test_pattern.h"
#include "tests/support/encoded_jpeg.h"

namespace lookout {
namespace {

const cv::Size kSize(320, 240);

cv::Mat drawn() {
  cv::Mat bgr(kSize, CV_8UC3);
  draw_pattern(Pattern::kNoise, bgr);
  return bgr;
}

bool decode(const Bytes& jpeg, cv::Mat& bgr, const JpegOptions& options = {JpegTolerance::kFrame}) {
  constexpr std::int64_t kSide = 8192;
  DecodedPicture picture;
  picture.bgr = bgr;
  decode_jpeg({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()}, {kSide * kSide, kSide},
              options, picture);
  bgr = picture.bgr;
  return picture.problem == DecodeProblem::kNone;
}

bool is_good(const Bytes& jpeg) {
  cv::Mat bgr;
  return decode(jpeg, bgr);
}

TEST(JpegFrame, IsTheOneOfOpenCv) {
  const Bytes jpeg = encoded(drawn());
  cv::Mat bgr;
  ASSERT_TRUE(decode(jpeg, bgr));
  EXPECT_EQ(cv::norm(bgr, cv::imdecode(jpeg, cv::IMREAD_COLOR), cv::NORM_INF), 0);
}

TEST(JpegFrame, GrayPictureBecomesBgr) {
  cv::Mat gray;
  cv::extractChannel(drawn(), gray, 0);
  const Bytes jpeg = encoded(gray);
  cv::Mat bgr;
  ASSERT_TRUE(decode(jpeg, bgr));
  EXPECT_EQ(cv::norm(bgr, cv::imdecode(jpeg, cv::IMREAD_COLOR), cv::NORM_INF), 0);
}

TEST(JpegFrame, KeepsTheMemory) {
  cv::Mat bgr(kSize, CV_8UC3);
  const auto* pixels = bgr.data;
  ASSERT_TRUE(decode(encoded(drawn()), bgr));
  EXPECT_EQ(bgr.data, pixels);
}

TEST(JpegFrame, HasItsOwnSize) {
  cv::Mat bgr(kSize, CV_8UC3);
  ASSERT_TRUE(decode(encoded(drawn()(cv::Rect(0, 0, 310, 232))), bgr));
  EXPECT_EQ(bgr.size(), cv::Size(310, 232));
}

TEST(JpegFrame, OfAFractionHasItsSidesRoundedUp) {
  const Bytes jpeg = encoded(drawn()(cv::Rect(0, 0, 311, 234)));
  for (const auto& [eighths, size] : std::vector<std::pair<int, cv::Size>>{
           {1, {39, 30}}, {2, {78, 59}}, {4, {156, 117}}, {8, {311, 234}}}) {
    cv::Mat bgr;
    ASSERT_TRUE(decode(jpeg, bgr, {JpegTolerance::kFrame, eighths}));
    EXPECT_EQ(bgr.size(), size);
    EXPECT_EQ(bgr.type(), CV_8UC3);
  }
}

// Means of pixels, but for what rounding and a filter change. In gray, since colors that are stored
// at half the size are interpolated at 8/8 alone.
TEST(JpegFrame, OfAFractionShowsTheSame) {
  cv::Mat bgr(kSize, CV_8UC3);
  draw_pattern(Pattern::kColorSquares, bgr);
  cv::Mat gray;
  cv::extractChannel(bgr, gray, 1);
  const Bytes jpeg = encoded(gray);
  cv::Mat whole;
  ASSERT_TRUE(decode(jpeg, whole));
  for (const int eighths : {1, 2, 4}) {
    cv::Mat reduced;
    ASSERT_TRUE(decode(jpeg, reduced, {JpegTolerance::kFrame, eighths}));
    cv::Mat means;
    cv::resize(whole, means, reduced.size(), 0, 0, cv::INTER_AREA);
    EXPECT_LT(cv::norm(reduced, means, cv::NORM_L1) / static_cast<double>(means.total() * 3), 3);
  }
}

TEST(JpegFrame, GrayIsItsLuma) {
  const Bytes jpeg = encoded(drawn());
  cv::Mat gray;
  ASSERT_TRUE(decode(jpeg, gray, {JpegTolerance::kFrame, 8, /*gray=*/true}));
  EXPECT_EQ(gray.type(), CV_8UC1);
  EXPECT_EQ(cv::norm(gray, cv::imdecode(jpeg, cv::IMREAD_GRAYSCALE), cv::NORM_INF), 0);
}

// Its colors are read, but not made.
TEST(JpegFrame, OfAFractionOrGrayIsDamagedByMissingData) {
  const Bytes jpeg = encoded(drawn());
  for (const JpegOptions& options :
       {JpegOptions{JpegTolerance::kFrame, 4}, JpegOptions{JpegTolerance::kFrame, 1, true}}) {
    for (std::size_t length = 0; length < jpeg.size() - 16; length += 97) {
      cv::Mat pixels;
      EXPECT_FALSE(
          decode(Bytes(jpeg.begin(), jpeg.begin() + static_cast<long>(length)), pixels, options))
          << length;
    }
  }
}

TEST(JpegFrame, ASizeThatNoCameraHasIsDamage) {
  Bytes jpeg = encoded(drawn());
  const Bytes header{0xff, 0xc0};
  const auto start = std::search(jpeg.begin(), jpeg.end(), header.begin(), header.end());
  ASSERT_NE(start, jpeg.end());
  start[5] = start[7] = 0xff;  // the high bytes of height and width
  EXPECT_FALSE(is_good(jpeg));
}

TEST(JpegFrame, MissingDataAreDamage) {
  const Bytes jpeg = encoded(drawn());
  testing::internal::CaptureStderr();
  for (std::size_t length = 0; length < jpeg.size() - 16; length += 97) {
    EXPECT_FALSE(is_good(Bytes(jpeg.begin(), jpeg.begin() + static_cast<long>(length)))) << length;
  }
  Bytes hole = jpeg;
  const auto middle = hole.begin() + static_cast<long>(hole.size() / 2);
  hole.erase(middle, middle + 1024);
  EXPECT_FALSE(is_good(hole));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(JpegFrame, MissingPiecesBetweenRestartMarkersAreDamage) {
  Bytes jpeg = encoded(drawn(), {cv::IMWRITE_JPEG_RST_INTERVAL, 20});
  ASSERT_TRUE(is_good(jpeg));
  const auto middle = jpeg.begin() + static_cast<long>(jpeg.size() / 2);
  jpeg.erase(middle, middle + 4096);
  EXPECT_FALSE(is_good(jpeg));
}

TEST(JpegFrame, WhatIsNoneIsDamage) { EXPECT_FALSE(is_good(Bytes(5000, 0x55))); }

TEST(JpegFrame, WhatManyCamerasDoIsNoDamage) {
  const Bytes jpeg = encoded(drawn());
  EXPECT_TRUE(is_good(Bytes(jpeg.begin(), jpeg.end() - 2))) << "no end marker";

  Bytes padded = jpeg;
  padded.resize(padded.size() + 1000);
  EXPECT_TRUE(is_good(padded)) << "zeros after the end";

  Bytes longer = jpeg;
  longer.insert(longer.end() - 2, 4, std::uint8_t{0});
  EXPECT_TRUE(is_good(longer)) << "a few bytes before the end marker";

  Bytes newer = jpeg;
  newer[11] = 2;  // the major version in the segment of JFIF, which comes first
  EXPECT_TRUE(is_good(newer)) << "a version of JFIF that is not known";

  constexpr std::size_t kJfif = 18;  // bytes of its segment
  const Bytes adobe{0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 9};
  Bytes of_adobe = jpeg;
  of_adobe.erase(of_adobe.begin() + 2, of_adobe.begin() + 2 + kJfif);
  of_adobe.insert(of_adobe.begin() + 2, adobe.begin(), adobe.end());
  EXPECT_TRUE(is_good(of_adobe)) << "a color transform of Adobe's that is not known";

  const Bytes without_tables = without_huffman_tables(jpeg);
  ASSERT_LT(without_tables.size(), jpeg.size());
  EXPECT_TRUE(is_good(without_tables)) << "no Huffman tables";
}

}  // namespace
}  // namespace lookout

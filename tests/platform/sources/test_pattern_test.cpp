#include "platform/sources/test_pattern.h"
#include "paths.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <opencv2/core.hpp>
#include <set>
#include <sstream>
#include <string>

namespace lookout {
namespace {

constexpr int kRedChannel = 2;  // place in a BGR pixel

cv::Mat draw(Pattern pattern, int width, int height) {
  cv::Mat bgr(height, width, CV_8UC3);
  draw_pattern(pattern, bgr);
  return bgr;
}

std::uint32_t checksum(const cv::Mat& bgr) {
  const auto bytes = static_cast<uInt>(bgr.total() * bgr.elemSize());
  return static_cast<std::uint32_t>(::crc32(0, bgr.data, bytes));
}

bool equal(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF) == 0; }

TEST(TestPattern, NamesLeadToPatternsAndBack) {
  for (const auto name : kPatternNames) {
    const auto pattern = find_pattern(name);
    ASSERT_TRUE(pattern) << name;
    EXPECT_EQ(to_text(*pattern), name);
  }
  EXPECT_EQ(find_pattern("noise"), Pattern::kNoise);
  EXPECT_FALSE(find_pattern("Noise"));
  EXPECT_FALSE(find_pattern(""));
}

// The checksums come from the Python program that draws the training pictures.
TEST(TestPattern, HasTheBytesOfThePythonTwin) {
  std::ifstream file(std::string(LOOKOUT_TEST_DATA) + "/pattern_checksums.txt");
  ASSERT_TRUE(file.is_open());
  std::set<std::string> seen;
  std::string name;
  std::string size;
  std::string expected;
  while (file >> name >> size >> expected) {
    const auto pattern = find_pattern(name);
    ASSERT_TRUE(pattern) << name;
    int width = 0;
    int height = 0;
    char x = 0;
    std::istringstream(size) >> width >> x >> height;
    EXPECT_EQ(checksum(draw(*pattern, width, height)), std::stoul(expected, nullptr, 16))
        << name << ' ' << size;
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), kPatternNames.size() - 1) << "all but noise";
}

TEST(TestPattern, ColorBarsBeginWhiteAndEndBlackAtThreeQuarters) {
  const cv::Mat bgr = draw(Pattern::kColorBars, 64, 16);
  EXPECT_EQ(bgr.at<cv::Vec3b>(0, 0), cv::Vec3b(191, 191, 191));
  EXPECT_EQ(bgr.at<cv::Vec3b>(0, 8), cv::Vec3b(0, 191, 191)) << "yellow";
  EXPECT_EQ(bgr.at<cv::Vec3b>(15, 63), cv::Vec3b(0, 0, 0));
}

TEST(TestPattern, RedIsInTheThirdByte) {
  EXPECT_EQ(draw(Pattern::kRed, 16, 16).at<cv::Vec3b>(3, 3)[kRedChannel], 255);
  EXPECT_EQ(draw(Pattern::kRed, 16, 16).at<cv::Vec3b>(3, 3)[0], 0);
}

TEST(TestPattern, NoiseIsGrayUniformAndReproducible) {
  const cv::Mat bgr = draw(Pattern::kNoise, 256, 256);
  std::array<int, 256> histogram{};
  for (int y = 0; y < bgr.rows; ++y) {
    for (int x = 0; x < bgr.cols; ++x) {
      const auto& pixel = bgr.at<cv::Vec3b>(y, x);
      ASSERT_TRUE(pixel[0] == pixel[1] && pixel[1] == pixel[2]);
      ++histogram.at(pixel[0]);
    }
  }
  // 256 are expected of each level, with a standard deviation of 16.
  EXPECT_GT(*std::min_element(histogram.begin(), histogram.end()), 256 - 6 * 16);
  EXPECT_LT(*std::max_element(histogram.begin(), histogram.end()), 256 + 6 * 16);
  EXPECT_TRUE(equal(bgr, draw(Pattern::kNoise, 256, 256)));
}

TEST(TestPattern, ShiftIsCyclicInBothDirections) {
  const cv::Mat picture = draw(Pattern::kNoise, 40, 30);
  cv::Mat shifted(picture.size(), picture.type());
  copy_shifted(picture, 7, -3, shifted);
  EXPECT_EQ(shifted.at<cv::Vec3b>(0, 7), picture.at<cv::Vec3b>(3, 0));
  EXPECT_EQ(shifted.at<cv::Vec3b>(29, 6), picture.at<cv::Vec3b>(2, 39));
  cv::Mat back(picture.size(), picture.type());
  copy_shifted(shifted, -7 - 2 * 40, 3 + 30, back);
  EXPECT_TRUE(equal(back, picture));
}

TEST(TestPattern, MarkerInvertsTheTopBitOfItsAreaAlone) {
  cv::Mat bgr = draw(Pattern::kGray, 32, 32);
  draw_marker({4, 5, 6, 7}, bgr);
  EXPECT_EQ(bgr.at<cv::Vec3b>(5, 4), cv::Vec3b(255, 255, 255));
  EXPECT_EQ(bgr.at<cv::Vec3b>(11, 9), cv::Vec3b(255, 255, 255));
  bgr(cv::Rect(4, 5, 6, 7)).setTo(cv::Scalar::all(127));
  EXPECT_TRUE(equal(bgr, draw(Pattern::kGray, 32, 32)));
}

}  // namespace
}  // namespace lookout

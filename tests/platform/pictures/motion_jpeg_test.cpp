#include "platform/pictures/motion_jpeg.h"

#include <gtest/gtest.h>

#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "platform/sources/test_pattern.h"
#include "tests/support/encoded_jpeg.h"

namespace lookout {
namespace {

const std::string kEnd = "\xff\xd9";

cv::Mat small_noise() {
  cv::Mat bgr(48, 64, CV_8UC3);
  draw_pattern(Pattern::kNoise, bgr);
  return bgr;
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

cv::Mat decoded(const std::string& jpeg) {
  return cv::imdecode(Bytes(jpeg.begin(), jpeg.end()), cv::IMREAD_COLOR);
}

TEST(MotionJpeg, AWholePictureStaysAsItIs) {
  for (const int progressive : {0, 1}) {
    const std::string jpeg =
        text_of(encoded(small_noise(), {cv::IMWRITE_JPEG_PROGRESSIVE, progressive}));
    EXPECT_EQ(complete_jpeg(jpeg), jpeg);
  }
}

TEST(MotionJpeg, MissingHuffmanTablesAreInserted) {
  const Bytes jpeg = encoded(small_noise());
  const std::string bare = text_of(without_huffman_tables(jpeg));
  const auto complete = complete_jpeg(bare);
  ASSERT_TRUE(complete);
  EXPECT_EQ(complete->size(), bare.size() + 420);
  EXPECT_NE(complete->find("\xff\xc4"), std::string::npos);
  EXPECT_EQ(cv::norm(decoded(*complete), decoded(text_of(jpeg)), cv::NORM_INF), 0);
  EXPECT_EQ(complete_jpeg(*complete), complete);
}

// The Huffman tables of a JPEG by their number, as its segments have them.
std::map<char, std::string> huffman_tables(const std::string& jpeg) {
  const auto byte = [&jpeg](std::size_t at) { return static_cast<unsigned char>(jpeg.at(at)); };
  std::map<char, std::string> tables;
  for (std::size_t at = 2; byte(at + 1) != 0xDA;) {  // up to the scan
    const std::size_t end = at + 2 + byte(at + 2) * 256U + byte(at + 3);
    for (std::size_t table = at + 4; byte(at + 1) == 0xC4 && table < end;) {
      std::size_t symbols = 0;
      for (std::size_t length = 1; length <= 16; ++length) symbols += byte(table + length);
      tables[jpeg[table]] = jpeg.substr(table + 1, 16 + symbols);
      table += 17 + symbols;
    }
    at = end;
  }
  return tables;
}

// ITU-T T.81, K.3, as libjpeg writes them.
TEST(MotionJpeg, TheInsertedTablesAreThoseOfTheStandard) {
  const Bytes jpeg = encoded(small_noise());
  const auto complete = complete_jpeg(text_of(without_huffman_tables(jpeg)));
  ASSERT_TRUE(complete);
  EXPECT_EQ(huffman_tables(*complete), huffman_tables(text_of(jpeg)));
  EXPECT_EQ(huffman_tables(*complete).size(), 4U);
}

TEST(MotionJpeg, TheEndMarkerIsTheEnd) {
  const std::string jpeg = text_of(encoded(small_noise()));
  EXPECT_EQ(complete_jpeg(jpeg.substr(0, jpeg.size() - 2)), jpeg);
  EXPECT_EQ(complete_jpeg(jpeg + std::string(1000, '\0')), jpeg);
}

TEST(MotionJpeg, BytesBetweenSegmentsArePassedOver) {
  std::string jpeg = text_of(encoded(small_noise()));
  jpeg.insert(2, std::string("\0\0\xff\0\xff\xff", 6));
  EXPECT_EQ(complete_jpeg(jpeg), jpeg);
}

TEST(MotionJpeg, WhatHasNoScanIsNone) {
  EXPECT_FALSE(complete_jpeg(""));
  EXPECT_FALSE(complete_jpeg("\xff"));
  EXPECT_FALSE(complete_jpeg(std::string(5000, 'U')));
  EXPECT_FALSE(complete_jpeg("\xff\xd8" + kEnd));
  const std::string jpeg = text_of(encoded(small_noise()));
  const std::size_t scan = jpeg.find("\xff\xda");
  for (std::size_t size = 0; size < scan + 4; ++size) {
    EXPECT_FALSE(complete_jpeg(jpeg.substr(0, size))) << size;
  }
  EXPECT_TRUE(complete_jpeg(jpeg.substr(0, scan + 4)));
}

}  // namespace
}  // namespace lookout

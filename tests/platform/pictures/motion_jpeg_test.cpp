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

cv::Mat noise_of(int width, int height) { return cv::Mat(small_noise(), {0, 0, width, height}); }

// After the marker of the start.
std::string with_segment(std::string jpeg, const std::string& marker, const std::string& content) {
  const std::string length{0, static_cast<char>(2 + content.size())};
  return jpeg.insert(2, marker + length + content);
}

TEST(MotionJpeg, PicturesOneBehindTheOtherAreAVideo) {
  const std::string jpeg = text_of(encoded(small_noise()));
  const std::string gray = text_of(encoded(cv::Mat(48, 64, CV_8UC1, cv::Scalar(7))));
  const std::string progressive =
      text_of(encoded(small_noise(), {cv::IMWRITE_JPEG_PROGRESSIVE, 1}));
  const std::string restarts = text_of(encoded(small_noise(), {cv::IMWRITE_JPEG_RST_INTERVAL, 2}));
  const std::string bare = text_of(without_huffman_tables(encoded(small_noise())));
  const std::string exif = with_segment(jpeg, "\xff\xe1", "Exif");
  for (const std::string& each : {jpeg, gray, progressive, restarts, bare, exif}) {
    EXPECT_FALSE(is_motion_jpeg(each));
    EXPECT_TRUE(is_motion_jpeg(each + each));
    EXPECT_TRUE(is_motion_jpeg(each + each.substr(0, each.size() / 2 + 400)));
    EXPECT_TRUE(is_motion_jpeg(each + std::string(1000, '\0') + each)) << "filled up";
    EXPECT_TRUE(is_motion_jpeg(each.substr(0, each.size() - 2) + each)) << "without an end";
  }
  EXPECT_TRUE(
      is_motion_jpeg(jpeg + text_of(encoded(small_noise(), {cv::IMWRITE_JPEG_QUALITY, 5}))));
}

TEST(MotionJpeg, APictureWithOthersOfItsOwnIsAPicture) {
  const std::string jpeg = text_of(encoded(small_noise()));
  const std::string mpf("MPF\0II*\0", 8);
  const std::string xmp =
      std::string("http://ns.adobe.com/xap/1.0/") + '\0' + "<Container:Directory>";
  EXPECT_FALSE(is_motion_jpeg(with_segment(jpeg, "\xff\xe2", mpf) + jpeg)) << "MPO";
  EXPECT_FALSE(is_motion_jpeg(with_segment(jpeg, "\xff\xe1", xmp) + jpeg)) << "Google's";
  const std::string preview = text_of(encoded(noise_of(32, 24)));
  EXPECT_FALSE(is_motion_jpeg(jpeg + preview)) << "a smaller one";
  EXPECT_FALSE(is_motion_jpeg(jpeg + "SEFH" + jpeg)) << "Samsung's trailer";
  EXPECT_FALSE(is_motion_jpeg(jpeg + std::string("\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data", 22)));
  EXPECT_FALSE(is_motion_jpeg(jpeg + std::string(1000, '\0')));
  EXPECT_FALSE(is_motion_jpeg(jpeg + std::string("\0\0\0\x18"
                                                 "ftypmp42",
                                                 12)))
      << "a motion photo";
  EXPECT_FALSE(is_motion_jpeg(jpeg + jpeg.substr(0, 20)));
  EXPECT_FALSE(is_motion_jpeg(jpeg.substr(0, jpeg.size() / 2)));
  EXPECT_FALSE(is_motion_jpeg(""));
  EXPECT_FALSE(is_motion_jpeg("\xff\xd8\xff\xd8\xff\xd8"));
}

}  // namespace
}  // namespace lookout

#include "platform/pictures/jpeg_segments.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace lookout {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

std::vector<unsigned> markers_of(const std::string& jpeg) {
  std::vector<unsigned> markers;
  JpegSegments segments(jpeg);
  while (const auto segment = segments.next()) markers.push_back(segment->marker);
  return markers;
}

TEST(JpegSegments, HaveContent) {
  const std::string jpeg = "\xff\xd8\xff\xe1\0\5abc\xff\xda\0\2\xff\xd9"s;
  JpegSegments segments(jpeg);
  const auto app1 = segments.next();
  ASSERT_TRUE(app1);
  EXPECT_EQ(app1->marker, JpegSegment::kApp1);
  EXPECT_EQ(app1->place, 2U);
  EXPECT_EQ(app1->content, "abc");
  EXPECT_TRUE(app1->is_whole);
  const auto scan = segments.next();
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->place, 9U);
  EXPECT_EQ(scan->content, "");
  EXPECT_TRUE(segments.next()->is_alone);
  EXPECT_FALSE(segments.next());
  EXPECT_FALSE(segments.next());
}

TEST(JpegSegments, WhatIsBetweenThemIsPassedOver) {
  EXPECT_THAT(markers_of("\xff\xd8zz\xff\0\0\x10\xff\xff\xff\xdb\0\3a\0\xff"s), ElementsAre(0xdb));
}

TEST(JpegSegments, FollowPixels) {
  EXPECT_THAT(markers_of("\xff\xd8\xff\xda\0\2ab\xff\0cd\xff\xd0gh\xff\xda\0\2ij\xff\xd9"s),
              ElementsAre(0xda, 0xd0, 0xda, 0xd9));
}

TEST(JpegSegments, MayBeCut) {
  const std::string jpeg = "\xff\xd8\xff\xe1\0\5abc"s;
  for (std::size_t size = 0; size < 6; ++size) {
    EXPECT_THAT(markers_of(jpeg.substr(0, size)), ElementsAre()) << size;
  }
  for (std::size_t size = 6; size < 9; ++size) {
    const std::string cut = jpeg.substr(0, size);
    const auto app1 = JpegSegments(cut).next();
    ASSERT_TRUE(app1);
    EXPECT_EQ(app1->content, jpeg.substr(6, size - 6));
    EXPECT_FALSE(app1->is_whole);
  }
}

TEST(JpegSegments, TellThePicturesSize) {
  const std::string start = "\xff\xd8\xff\xc4\0\7abcde"s;
  const std::string header = "\xff\xc2\0\7\x08\1\2\3\4"s;  // progressive
  const auto size = size_of_jpeg(start + header);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 0x304);
  EXPECT_EQ(size->height, 0x102);
  EXPECT_FALSE(size_of_jpeg(start + header.substr(0, header.size() - 1))) << "cut";
  EXPECT_FALSE(size_of_jpeg(start + "\xff\xda\0\2"s + header)) << "a scan comes first";
  EXPECT_FALSE(size_of_jpeg(""));
}

// A length is two at least: its own bytes.
TEST(JpegSegments, MayHaveAWrongLength) {
  const std::string jpeg = "\xff\xd8\xff\xe1\0\1\xff\xd9"s;
  EXPECT_FALSE(JpegSegments(jpeg).next()->is_whole);
  EXPECT_THAT(markers_of(jpeg), ElementsAre(0xe1, 0xd9));
}

}  // namespace
}  // namespace lookout

#include "platform/pictures/picture_format.h"

#include <gmock/gmock.h>

#include <string>

namespace lookout {
namespace {

using namespace std::string_literals;

TEST(PictureFormat, IsKnownByTheFirstBytes) {
  EXPECT_EQ(picture_format("\xff\xd8\xff\xe0"), PictureFormat::kJpeg);
  EXPECT_EQ(picture_format("\x89PNG\r\n\x1a\n"), PictureFormat::kPng);
  EXPECT_EQ(picture_format("RIFF....WEBPVP8 "), PictureFormat::kWebp);
  EXPECT_EQ(picture_format("II*\0"s), PictureFormat::kTiff);
  EXPECT_EQ(picture_format("MM\0*"s), PictureFormat::kTiff);
  EXPECT_EQ(picture_format("II+\0"s), PictureFormat::kTiff);
  EXPECT_EQ(picture_format("BM"), PictureFormat::kBmp);
  for (const std::string& other :
       {""s, "\xff\xd8"s, "\x89PNG"s, "RIFF"s, "RIFF....WAVE"s, "II"s, "text"s, "\xff\xfetext"s}) {
    EXPECT_EQ(picture_format(other), PictureFormat::kOther) << other;
  }
}

TEST(PictureFormat, OthersHaveNames) {
  EXPECT_EQ(format_name("\0\0\0\x18"
                        "ftypheic"s),
            kHeic);
  EXPECT_EQ(format_name("\0\0\0\x18"
                        "ftypmif1"s),
            kHeic);
  EXPECT_EQ(format_name("\0\0\0\x18"
                        "ftypavif"s),
            "AVIF");
  EXPECT_EQ(format_name("\0\0\0\x18"
                        "ftypisom"s),
            "a video");
  EXPECT_EQ(format_name("GIF89a"), "GIF");
  EXPECT_EQ(format_name("%PDF-1.7"), "a PDF");
  EXPECT_EQ(format_name("BM"), "BMP");
  EXPECT_EQ(format_name("MM\0*"s), "TIFF");
  EXPECT_EQ(format_name("P6\n1 1\n"), "PPM");
  EXPECT_EQ(format_name("text"), "");
}

TEST(PictureFormat, AFilmIsNoPictureThatCannotBeRead) {
  EXPECT_FALSE(unreadable_format("GIF89a"));
  EXPECT_FALSE(
      unreadable_format("\0\0\0\x18"
                        "ftypisom"s));
  EXPECT_FALSE(unreadable_format("text"));
}

}  // namespace
}  // namespace lookout

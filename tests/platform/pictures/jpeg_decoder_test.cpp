#include "platform/pictures/jpeg_decoder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "platform/sources/picture_source.h"
#include "platform/sources/test_pattern.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

cv::Mat grain(int width = 203, int height = 101) {
  cv::Mat bgr(height, width, CV_8UC3);
  draw_pattern(Pattern::kNoise, bgr);
  return bgr;
}

DecodedPicture read(const Bytes& jpeg) {
  DecodeLimits limits;
  limits.pixels = 1'000'000;
  DecodedPicture picture;
  decode_jpeg({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()}, limits,
              {JpegTolerance::kFile}, picture);
  return picture;
}

class JpegDecoderTest : public testing::Test {
 protected:
  std::string write(const Bytes& bytes) const {
    return dir_.write("a.jpg", std::string(bytes.begin(), bytes.end()));
  }

  // It is read as OpenCV reads it from a file; returns libjpeg's warning.
  std::string expect_as_opencv(const Bytes& bytes, const std::string& what) const {
    SCOPED_TRACE(what);
    const std::string path = write(bytes);
    testing::internal::CaptureStderr();
    const DecodedPicture picture = read(bytes);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(picture.problem, DecodeProblem::kNone) << picture.message;
    testing::internal::CaptureStderr();  // libjpeg's output under OpenCV
    const cv::Mat expected = cv::imread(path, cv::IMREAD_COLOR);
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(picture.bgr.size(), expected.size());
    EXPECT_EQ(picture.bgr.type(), CV_8UC3);
    if (picture.bgr.size() == expected.size()) {
      EXPECT_EQ(cv::norm(picture.bgr, expected, cv::NORM_INF), 0);
    }
    return picture.warning;
  }

  const TempDir dir_;
};

TEST_F(JpegDecoderTest, PixelsAreThoseOfOpenCv) {
  cv::Mat gray;
  cv::extractChannel(grain(), gray, 0);
  EXPECT_EQ(expect_as_opencv(encoded(grain()), "color"), "");
  EXPECT_EQ(expect_as_opencv(encoded(gray), "gray"), "");
  EXPECT_EQ(expect_as_opencv(encoded(grain(), {cv::IMWRITE_JPEG_PROGRESSIVE, 1}), "progressive"),
            "");
  EXPECT_EQ(expect_as_opencv(encoded(grain(), {cv::IMWRITE_JPEG_QUALITY, 5}), "poor"), "");
  EXPECT_EQ(expect_as_opencv(encoded(grain(1, 1)), "one pixel"), "");
}

// An APP1 segment with one entry, in either order of bytes, after the start of the picture.
Bytes with_orientation(Bytes jpeg, unsigned char orientation, bool little_endian) {
  Bytes tiff = little_endian ? Bytes{'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 0x12, 1, 3,
                                     0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,    0, 0}
                             : Bytes{'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 0x12, 0,
                                     3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,    0};
  Bytes segment{0xff, 0xe1, 0, static_cast<unsigned char>(2 + 6 + tiff.size())};
  segment.insert(segment.end(), {'E', 'x', 'i', 'f', 0, 0});
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

TEST_F(JpegDecoderTest, IsTurnedAsItsExifDataSay) {
  const Bytes jpeg = encoded(grain(24, 16));
  for (unsigned char orientation = 0; orientation <= 9; ++orientation) {
    for (const bool little_endian : {false, true}) {
      expect_as_opencv(with_orientation(jpeg, orientation, little_endian),
                       std::to_string(orientation) + (little_endian ? " Intel" : " Motorola"));
    }
  }
  EXPECT_EQ(read(with_orientation(jpeg, 6, true)).bgr.size(), cv::Size(16, 24));
}

// An APP1 segment of XMP after the start of the picture: before all others.
Bytes with_xmp(Bytes jpeg, const std::string& name) {
  const std::string content = name + '\0' + "<x:xmpmeta tiff:Orientation=\"3\"/>";
  Bytes segment{0xff, 0xe1, 0, static_cast<unsigned char>(2 + content.size())};
  segment.insert(segment.end(), content.begin(), content.end());
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

TEST_F(JpegDecoderTest, ExifDataBehindXmpTurnIt) {
  const std::string xmp = "http://ns.adobe.com/xap/1.0/";
  const std::string extension = "http://ns.adobe.com/xmp/extension/";
  const Bytes jpeg = encoded(grain(24, 16));
  const Bytes exif = with_orientation(jpeg, 6, true);
  const cv::Size turned(16, 24);
  EXPECT_EQ(read(with_xmp(exif, xmp)).bgr.size(), turned);
  EXPECT_EQ(read(with_xmp(exif, extension)).bgr.size(), turned);
  EXPECT_EQ(read(with_xmp(with_xmp(exif, extension), xmp)).bgr.size(), turned);
  EXPECT_EQ(read(with_orientation(with_xmp(jpeg, xmp), 8, false)).bgr.size(), turned);
  EXPECT_EQ(read(with_xmp(jpeg, xmp)).bgr.size(), cv::Size(24, 16)) << "no EXIF data";
  const Bytes two = with_orientation(with_xmp(exif, xmp), 1, true);
  EXPECT_EQ(read(two).bgr.size(), cv::Size(24, 16)) << "the first EXIF data count";
}

TEST_F(JpegDecoderTest, BrokenExifDataAreIgnored) {
  const Bytes whole = with_orientation(encoded(grain(24, 16)), 6, true);
  constexpr std::size_t kContent =
      6;  // follows the start of the picture, the marker and the length
  for (std::size_t place = kContent; place < kContent + 6 + 26; ++place) {
    Bytes broken = whole;
    broken[place] ^= 0xff;
    EXPECT_EQ(read(broken).problem, DecodeProblem::kNone) << place;
  }
}

// With a restart marker, which it does not have, in the middle of the pixels.
Bytes with_foreign_bytes(Bytes jpeg) {
  const Bytes marker{0xff, 0xd5};
  jpeg.insert(jpeg.begin() + static_cast<long>(jpeg.size() / 2), marker.begin(), marker.end());
  return jpeg;
}

TEST_F(JpegDecoderTest, AWarningOfLibjpegIsReturnedInsteadOfPrinted) {
  EXPECT_THAT(expect_as_opencv(with_foreign_bytes(encoded(grain())), "foreign bytes"),
              HasSubstr("Corrupt JPEG data"));
}

TEST_F(JpegDecoderTest, ATruncatedPictureHasNoPixels) {
  for (const int progressive : {0, 1}) {
    const Bytes jpeg = encoded(grain(), {cv::IMWRITE_JPEG_PROGRESSIVE, progressive});
    for (std::size_t size = jpeg.size() - 30; size < jpeg.size(); ++size) {
      const Bytes cut(jpeg.begin(), jpeg.begin() + static_cast<long>(size));
      EXPECT_EQ(read(cut).problem, DecodeProblem::kTruncated) << size << " of " << jpeg.size();
    }
  }
}

TEST_F(JpegDecoderTest, BytesAfterTheEndAreIgnored) {
  Bytes jpeg = encoded(grain());
  jpeg.insert(jpeg.end(), 50, 0xab);
  EXPECT_EQ(expect_as_opencv(jpeg, "bytes after the end"), "");
}

TEST_F(JpegDecoderTest, WhatCannotBeDecodedIsDamaged) {
  EXPECT_EQ(read({0xff, 0xd8, 0xff, 0xe0, 0, 0}).problem, DecodeProblem::kTruncated);
  const DecodedPicture picture = read({0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9});
  EXPECT_EQ(picture.problem, DecodeProblem::kDamaged);
  EXPECT_THAT(picture.message, HasSubstr("cannot be read as a picture: "));
  EXPECT_EQ(read({}).problem, DecodeProblem::kTruncated);
}

TEST_F(JpegDecoderTest, ASourceLogsOneWarningForEachPicture) {
  write(with_foreign_bytes(encoded(grain())));
  PictureSource source(dir_ / "a.jpg");
  const CapturedLog log;
  testing::internal::CaptureStderr();
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::string text = log.text();
  EXPECT_THAT(text, AllOf(HasSubstr("[warning]"), HasSubstr(dir_ / "a.jpg: Corrupt JPEG data")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(JpegDecoderTest, ASourceSkipsATruncatedPictureAndSaysSo) {
  const Bytes jpeg = encoded(grain());
  write(Bytes(jpeg.begin(), jpeg.begin() + static_cast<long>(jpeg.size() / 2)));
  PictureSource alone(dir_ / "a.jpg");
  Frame frame;
  expect_error(ErrorKind::kNoInput, HasSubstr("a.jpg is truncated"),
               [&] { alone.read(frame, kTimeout); });
  PictureSource folder(dir_.path());
  const CapturedLog log;
  EXPECT_EQ(folder.read(frame, kTimeout), ReadStatus::kSkipped);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("a.jpg is truncated"), HasSubstr("skipped")));
}

}  // namespace
}  // namespace lookout

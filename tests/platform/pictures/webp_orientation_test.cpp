#include "platform/pictures/webp_decoder.h"

#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "platform/sources/picture_source.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

std::string little_endian(std::size_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

std::string riff_chunk(const std::string& name, const std::string& content) {
  return name + little_endian(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}

// A picture whose left half is red, and EXIF data with one entry, the orientation.
std::string webp(const std::string& prefix, char orientation) {
  constexpr int kWidth = 24;
  constexpr int kHeight = 16;
  cv::Mat bgr(kHeight, kWidth, CV_8UC3, cv::Scalar::all(0));
  bgr(cv::Rect(0, 0, kWidth / 2, kHeight)).setTo(cv::Scalar(0, 0, 255));
  std::vector<unsigned char> encoded;
  cv::imencode(".webp", bgr, encoded, {cv::IMWRITE_WEBP_QUALITY, 101});  // lossless
  constexpr std::size_t kHeader = 12;                                    // "RIFF", size, "WEBP"
  const std::string picture(encoded.begin() + kHeader, encoded.end());
  const std::string tiff =
      std::string("II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0", 18) + orientation + std::string(7, '\0');
  constexpr char kHasExif = 8;
  const std::string extended = std::string(1, kHasExif) + std::string(3, '\0') +
                               little_endian(kWidth - 1, 3) + little_endian(kHeight - 1, 3);
  return riff_chunk(
      "RIFF", "WEBP" + riff_chunk("VP8X", extended) + picture + riff_chunk("EXIF", prefix + tiff));
}

TEST(WebpOrientation, IsReadWithAndWithoutThePrefixOfJpegFiles) {
  EXPECT_EQ(webp_orientation(webp("", 6)), 6);
  EXPECT_EQ(webp_orientation(webp(std::string("Exif\0\0", 6), 3)), 3);
}

TEST(WebpOrientation, OtherFilesAndBrokenOnesAreUpright) {
  EXPECT_EQ(webp_orientation(""), 1);
  EXPECT_EQ(webp_orientation("\x89PNG"), 1);
  const std::string whole = webp("", 6);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(webp_orientation(whole.substr(0, size)), testing::AnyOf(1, 6));
  }
}

TEST(WebpOrientation, ASourceTurnsThePicture) {
  const TempDir dir;
  PictureSource source(dir.write("a.webp", webp("", 6)));
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  ASSERT_EQ(frame.bgr.size(), cv::Size(16, 24));
  EXPECT_EQ(frame.bgr.at<cv::Vec3b>(0, 0), cv::Vec3b(0, 0, 255));
  EXPECT_EQ(frame.bgr.at<cv::Vec3b>(23, 0), cv::Vec3b(0, 0, 0));
}

}  // namespace
}  // namespace lookout

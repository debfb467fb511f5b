#include "platform/sources/picture_source.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "platform/pictures/opencv_decoder.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

void write_picture(const std::string& path, int width = 8, int height = 6) {
  ASSERT_TRUE(cv::imwrite(path, cv::Mat(height, width, CV_8UC3, cv::Scalar(255, 0, 0)))) << path;
}

std::vector<std::string> origins(PictureSource& source) {
  std::vector<std::string> result;
  Frame frame;
  while (source.read(frame, kTimeout) == ReadStatus::kFrame) result.push_back(frame.origin);
  return result;
}

TEST(PictureSource, ReadsOnePictureThenEnds) {
  const TempDir dir;
  write_picture(dir / "blue sky.png");
  PictureSource source(dir / "blue sky.png");
  EXPECT_EQ(source.info().name, "blue sky");
  EXPECT_FALSE(source.info().live);
  EXPECT_THAT(source.info().description, HasSubstr("blue sky.png"));
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.size(), cv::Size(8, 6));
  EXPECT_EQ(frame.bgr.at<cv::Vec3b>(0, 0), cv::Vec3b(255, 0, 0));
  EXPECT_EQ(frame.origin, dir / "blue sky.png");
  EXPECT_LE(frame.captured, Clock::now());
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kEnd);
}

TEST(PictureSource, GrayAndTransparentPicturesBecomeBgr) {
  const TempDir dir;
  ASSERT_TRUE(cv::imwrite(dir / "1.png", cv::Mat(4, 4, CV_8UC1, cv::Scalar(77))));
  ASSERT_TRUE(cv::imwrite(dir / "2.png", cv::Mat(4, 4, CV_8UC4, cv::Scalar(1, 2, 3, 4))));
  ASSERT_TRUE(cv::imwrite(dir / "3.png", cv::Mat(4, 4, CV_16UC3, cv::Scalar::all(0x1234))));
  PictureSource source(dir.path().string());
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
    EXPECT_EQ(frame.bgr.type(), CV_8UC3);
  }
}

TEST(PictureSource, FolderIsInNaturalOrder) {
  const TempDir dir;
  for (const auto* name : {"img10.png", "img2.png", "img1.bmp", "img2b.png"}) {
    write_picture(dir / name);
  }
  PictureSource source(dir.path().string());
  EXPECT_EQ(source.info().name, dir.path().filename().string());
  EXPECT_THAT(source.info().description, HasSubstr("4 pictures"));
  EXPECT_THAT(origins(source), ElementsAre(dir / "img1.bmp", dir / "img2.png", dir / "img2b.png",
                                           dir / "img10.png"));
}

TEST(PictureSource, FolderLeavesOutWhatIsNotAPicture) {
  const TempDir dir;
  write_picture(dir / "seen.png");
  std::filesystem::rename(dir / "seen.png", dir / "SEEN.PNG");
  write_picture(dir / ".hidden.png");
  dir.write("notes.txt", "no picture");
  std::filesystem::create_directory(dir / "sub.png");
  write_picture(dir / "sub.png/below.png");
  PictureSource source(dir.path().string());
  EXPECT_THAT(origins(source), ElementsAre(dir / "SEEN.PNG"));
}

TEST(PictureSource, FolderIsCalledByItsNameHoweverItIsWritten) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "2024.summer");
  write_picture(dir / "2024.summer/a.png");
  EXPECT_EQ(PictureSource(dir / "2024.summer/").info().name, "2024.summer");
  EXPECT_EQ(PictureSource(dir / "2024.summer/.").info().name, "2024.summer");
}

TEST(PictureSource, BrokenPictureOfAFolderIsNamedAndSkipped) {
  const TempDir dir;
  dir.write("1.jpg", "this is no JPEG");
  write_picture(dir / "2.png");
  PictureSource source(dir.path().string());
  const CapturedLog log;
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kSkipped);
  EXPECT_THAT(log.text(), HasSubstr(dir / "1.jpg"));
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.origin, dir / "2.png");
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kEnd);
}

std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// Of a picture with 24 bits for a pixel.
std::string bmp_header(std::uint32_t width, std::uint32_t height) {
  constexpr std::uint32_t kHeader = 54;
  constexpr std::uint32_t kInfo = 40;
  return "BM" + little_endian(0, 8) + little_endian(kHeader, 4) + little_endian(kInfo, 4) +
         little_endian(width, 4) + little_endian(height, 4) + little_endian(1, 2) +
         little_endian(24, 2) + std::string(24, '\0');
}

TEST(PictureSource, PictureTooLargeToDecodeIsBroken) {
  const TempDir dir;
  dir.write("1.bmp", bmp_header(1'000'000, 1'000'000));
  dir.write("2.bmp", bmp_header(1, 1) + "bgr" + '\0');
  PictureSource source(dir.path().string());
  const CapturedLog log;
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kSkipped);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
}

// A big-endian field of a TIFF's directory.
std::string tiff_field(char tag, char type, char value) {
  const bool is_short = type == 3;
  return std::string{1, tag, 0, type, 0, 0, 0, 1} +
         (is_short ? std::string{0, value, 0, 0} : std::string{0, 0, 0, value});
}

TEST(PictureSource, ABigEndianTiffThatIsDamagedIsFound) {
  constexpr char kShort = 3;
  constexpr char kLong = 4;
  constexpr char kLzw = 5;
  const std::string fields =
      tiff_field(0, kShort, 4) + tiff_field(1, kShort, 4) + tiff_field(2, kShort, 8) +
      tiff_field(3, kShort, kLzw) + tiff_field(6, kShort, 1) + tiff_field(17, kLong, 122) +
      tiff_field(21, kShort, 1) + tiff_field(22, kShort, 4) + tiff_field(23, kLong, 8);
  EXPECT_TRUE(is_damaged_tiff(std::string("MM\0*\0\0\0\x08\0\x09", 10) + fields +
                              std::string(4, '\0') + std::string(8, '\xff')));
}

// OpenCV leaves the part black that it cannot decode.
TEST(PictureSource, ATiffThatIsDamagedInTheMiddleIsBroken) {
  const TempDir dir;
  cv::Mat noise(200, 200, CV_8UC3);
  cv::randu(noise, 0, 256);
  constexpr int kLzw = 5;
  if (!cv::haveImageWriter("a.tif")) GTEST_SKIP() << "this OpenCV writes no TIFF";
  const std::string path = dir / "a.tif";
  ASSERT_TRUE(cv::imwrite(path, noise, {cv::IMWRITE_TIFF_COMPRESSION, kLzw}));
  Frame frame;
  EXPECT_EQ(PictureSource(path).read(frame, kTimeout), ReadStatus::kFrame);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
  file << std::string(2000, '\xff');
  file.close();
  PictureSource source(path);
  expect_error(ErrorKind::kNoInput, HasSubstr(path + " is damaged"),
               [&] { source.read(frame, kTimeout); });
}

// Sanitizers need more memory for themselves, and the emulator of other machines limits none.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
TEST(PictureSource, WithoutMemoryForAPictureThatIsSaid) {
  const TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms::all);
  const std::string path = dir / "large.png";
  ASSERT_TRUE(cv::imwrite(path, cv::Mat(6000, 8000, CV_8UC1, cv::Scalar(0))));
  expect_error_unprivileged(ErrorKind::kNoInput, path + " needs more memory than there is", [&] {
    constexpr rlim_t kBytes = 100'000'000;  // the picture takes 144 MB
    const rlimit limit{kBytes, kBytes};
    ::setrlimit(RLIMIT_DATA, &limit);
    PictureSource source(path);
    Frame frame;
    source.read(frame, kTimeout);
  });
}
#endif

TEST(PictureSource, SingleBrokenPictureIsAnError) {
  const TempDir dir;
  PictureSource source(dir.write("broken.jpg", "this is no JPEG"));
  Frame frame;
  expect_error(ErrorKind::kNoInput, HasSubstr(dir / "broken.jpg"),
               [&] { source.read(frame, kTimeout); });
}

TEST(PictureSource, FolderWithoutPicturesIsAnError) {
  const TempDir dir;
  dir.write("notes.txt", "no picture");
  expect_error(ErrorKind::kNoInput, AllOf(HasSubstr("no pictures"), HasSubstr(dir.path().string())),
               [&] { PictureSource source(dir.path().string()); });
}

TEST(PictureSource, FolderThatMayNotBeListedIsAnError) {
  const TempDir dir;
  write_picture(dir / "a.png");
  std::filesystem::permissions(
      dir.path(), std::filesystem::perms::owner_exec | std::filesystem::perms::others_exec);
  expect_error_unprivileged(ErrorKind::kPermission, dir.path().string(),
                            [&] { PictureSource source(dir.path().string()); });
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
}

// As when something takes the name of a picture after the folder was listed.
TEST(PictureSource, APictureThatBecameAFifoIsSkippedWithoutWaiting) {
  const TempDir dir;
  write_picture(dir / "1.png");
  write_picture(dir / "2.png");
  PictureSource source(dir.path().string());
  std::filesystem::remove(dir / "1.png");
  ASSERT_EQ(::mkfifo((dir / "1.png").c_str(), 0600), 0);
  const CapturedLog log;
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kSkipped);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.origin, dir / "2.png");
}

TEST(PictureSource, KnownFormatsThatCannotBeReadAreNamed) {
  const TempDir dir;
  const std::string rest(64, '\0');
  const std::pair<std::string, const char*> formats[] = {
      {std::string("\0\0\0\x18"
                   "ftypheic",
                   12),
       "is a HEIC picture, which is not supported"},
      {std::string("\0\0\0\x18"
                   "ftypavif",
                   12),
       "is an AVIF picture, which is not supported"},
      {"#?RADIANCE\n", "is Radiance HDR, which is not read; JPEG, PNG, WebP, TIFF and BMP are"},
      {"P5\n1 1\n255\nx", "is PGM, which is not read"},
      {"\x76\x2f\x31\x01", "is OpenEXR, which is not read"},
      {"%PDF-1.7", "is a PDF, which is not read"},
      {std::string("RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0\2", 21), "is an animated WebP"},
  };
  for (const auto& [start, sentence] : formats) {
    const std::string path = dir.write("a.webp", start + rest);
    PictureSource source(path);
    Frame frame;
    expect_error(ErrorKind::kNoInput, HasSubstr(path + " " + sentence),
                 [&] { source.read(frame, kTimeout); });
  }
}

}  // namespace
}  // namespace lookout

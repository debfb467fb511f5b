#include "platform/sources/picture_source.h"

#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

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

TEST(PictureSource, PictureTooLargeToDecodeIsBroken) {
  const TempDir dir;
  dir.write("1.pgm", "P5\n1000000 1000000\n255\n");
  dir.write("2.pgm", "P5\n1 1\n255\nx");
  PictureSource source(dir.path().string());
  const CapturedLog log;
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kSkipped);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
}

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

TEST(PictureSource, KnowsPicturesByTheirExtension) {
  for (const auto* name :
       {"a.jpg", "a.JPEG", "dir/a.b.png", "a.webp", "a.tiff", "a.pnm", "a.jp2"}) {
    EXPECT_TRUE(has_picture_extension(name)) << name;
  }
  for (const auto* name : {"a.mp4", "jpg", ".jpg", "a.jpg/b", "a", ""}) {
    EXPECT_FALSE(has_picture_extension(name)) << name;
  }
}

}  // namespace
}  // namespace lookout

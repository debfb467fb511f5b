#include "platform/video_source.h"

#include <filesystem>
#include <opencv2/videoio.hpp>
#include <string>

#include "platform/open_source.h"
#include "tests/source_testing.h"
#include "tests/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kFrames = 90;

// Frame n is of level 2n.
void write_video(const std::string& path) {
  cv::VideoWriter writer(path, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 30, {64, 48});
  ASSERT_TRUE(writer.isOpened());
  for (int i = 0; i < kFrames; ++i) {
    writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(2.0 * i)));
  }
}

class VideoSourceTest : public testing::Test {
 protected:
  // The first source of a program silences OpenCV.
  static void SetUpTestSuite() { open_source("test://black", {}); }

  void SetUp() override { write_video(video_); }

  const TempDir dir_;
  const std::string video_ = dir_ / "walk.avi";
};

TEST_F(VideoSourceTest, ReadsEveryFrameInOrder) {
  VideoSource source(video_);
  EXPECT_EQ(source.info().name, "walk");
  EXPECT_FALSE(source.info().live);
  EXPECT_THAT(source.info().description, AllOf(HasSubstr("walk.avi"), HasSubstr("64x48, 30 fps")));
  Frame frame;
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame) << "frame " << i;
    EXPECT_EQ(frame.bgr.size(), cv::Size(64, 48));
    EXPECT_EQ(frame.bgr.type(), CV_8UC3);
    EXPECT_NEAR(frame.bgr.at<cv::Vec3b>(24, 32)[0], 2 * i, 4);
    EXPECT_EQ(frame.origin, video_);
  }
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kEnd);
}

TEST_F(VideoSourceTest, KeepsTheFramesMemory) {
  VideoSource source(video_);
  Frame frame;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  const auto* pixels = frame.bgr.data;
  ASSERT_EQ(source.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.data, pixels);
}

TEST_F(VideoSourceTest, TruncatedFileIsAnErrorAfterItsLastFrame) {
  std::filesystem::resize_file(video_, std::filesystem::file_size(video_) / 2);
  VideoSource source(video_);
  Frame frame;
  int frames = 0;
  expect_error(ErrorKind::kNoInput,
               AllOf(HasSubstr(video_), ContainsRegex("ends after [0-9]+ of 90 frames")), [&] {
                 while (source.read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
               });
  EXPECT_GT(frames, kFrames / 4);
}

TEST_F(VideoSourceTest, NameWithAColonIsAFile) {
  const auto before = std::filesystem::current_path();
  std::filesystem::rename(video_, dir_ / "12:30.avi");
  std::filesystem::current_path(dir_.path());
  Frame frame;
  EXPECT_EQ(VideoSource("12:30.avi").read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.origin, "12:30.avi");
  std::filesystem::current_path(before);
}

TEST_F(VideoSourceTest, WhatIsNoVideoIsAnErrorWithoutNoise) {
  const auto text = dir_.write("notes.mp4", "this is no video");
  const auto nothing = dir_.write("empty.mp4", "");
  std::filesystem::resize_file(video_, 4096);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const auto& path : {text, nothing, video_}) {
    expect_error(ErrorKind::kNoInput, HasSubstr(path), [&] {
      Frame frame;
      open_source(path, {})->read(frame, kTimeout);
    });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace lookout

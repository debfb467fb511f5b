#include "platform/sources/video_source.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <opencv2/videoio.hpp>
#include <string>

#include "platform/sources/open_source.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

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

// Moves the last cluster of a Matroska file, and the end, to ten seconds later.
void put_a_pause_in(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto duration = bytes.find("\x44\x89\x88");
  const auto cluster = bytes.rfind("\x1f\x43\xb6\x75");
  ASSERT_NE(cluster, std::string::npos);
  const auto time = bytes.find("\xe7\x82", cluster);
  ASSERT_NE(duration, std::string::npos);
  ASSERT_NE(time, std::string::npos);
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(bytes[place]); };
  const int later = byte(time + 2) * 256 + byte(time + 3) + 10'000;  // ms
  file.seekp(static_cast<std::streamoff>(time + 2));
  file.put(static_cast<char>(later / 256)).put(static_cast<char>(later % 256));
  file.seekp(static_cast<std::streamoff>(duration + 3));
  file.write("\x40\xc9\x64\0\0\0\0\0", 8);  // 13000.0 ms
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

// The file announces as many frames as had come at the rate of most.
TEST_F(VideoSourceTest, AVariableRateIsNoTruncation) {
  const std::string pause = dir_ / "pause.mkv";
  write_video(pause);
  put_a_pause_in(pause);
  ASSERT_GT(cv::VideoCapture(pause).get(cv::CAP_PROP_FRAME_COUNT), 2 * kFrames);
  VideoSource source(pause);
  Frame frame;
  int frames = 0;
  while (source.read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
  EXPECT_EQ(frames, kFrames);

  std::filesystem::resize_file(pause, std::filesystem::file_size(pause) / 2);
  VideoSource truncated(pause);
  expect_error(ErrorKind::kNoInput, HasSubstr("truncated"), [&] {
    while (truncated.read(frame, kTimeout) == ReadStatus::kFrame) continue;
  });
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

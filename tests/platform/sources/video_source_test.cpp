#include "platform/sources/video_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <string>
#include <tuple>

#include "platform/sources/open_source.h"
#include "platform/sources/video_module.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/video_file.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kFrames = 90;

unsigned char byte(double value) { return cv::saturate_cast<unsigned char>(value); }

// Frame n is of level 2n of the full range, as motion JPEG has it.
void write_video(const std::string& path) {
  VideoFormat format;
  format.codec = "mjpeg";
  format.pixels = AV_PIX_FMT_YUVJ420P;
  VideoFile file(path, format);
  for (int i = 0; i < kFrames; ++i) file.write({byte(2.0 * i), 128, 128});
}

int level(const Frame& frame) { return frame.bgr.at<cv::Vec3b>(24, 32)[0]; }

class VideoSourceTest : public testing::Test {
 protected:
  void SetUp() override { write_video(video_); }

  const TempDir dir_;
  const std::string video_ = dir_ / "walk.avi";
};

TEST_F(VideoSourceTest, ReadsEveryFrameInOrder) {
  const auto source = open_video(video_);
  EXPECT_EQ(source->info().name, "walk");
  EXPECT_FALSE(source->info().live);
  EXPECT_THAT(source->info().description, AllOf(HasSubstr("walk.avi"), HasSubstr("64x48, 30 fps")));
  Frame frame;
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame) << "frame " << i;
    EXPECT_EQ(frame.bgr.size(), cv::Size(64, 48));
    EXPECT_EQ(frame.bgr.type(), CV_8UC3);
    EXPECT_NEAR(level(frame), 2 * i, 4);
    EXPECT_EQ(frame.origin, video_);
  }
  EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kEnd);
}

TEST_F(VideoSourceTest, FramesHaveTheirTimeInTheVideo) {
  const std::string path = dir_ / "pause.mkv";
  constexpr std::int64_t kTicks[] = {0, 1, 2, 300};  // of 1/30 s
  {
    VideoFile file(path, {});
    for (const auto tick : kTicks) file.write({100, 128, 128}, {100, 128, 128}, tick);
  }
  const auto source = open_video(path);
  Frame frame;
  for (const auto tick : kTicks) {
    ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
    ASSERT_TRUE(frame.media_time.has_value());
    const std::chrono::duration<double, std::milli> time = *frame.media_time;
    EXPECT_NEAR(time.count(), static_cast<double>(tick) * 1000 / 30, 1) << "Matroska has whole ms";
  }
}

TEST_F(VideoSourceTest, KeepsTheFramesMemory) {
  const auto source = open_video(video_);
  Frame frame;
  ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
  const auto* pixels = frame.bgr.data;
  ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.data, pixels);
}

// A decoder holds back frames that are shown later than they are stored.
TEST_F(VideoSourceTest, FramesThatTheDecoderHeldBackCome) {
  for (const char* codec : {"mpeg4", "libx264"}) {
    if (avcodec_find_encoder_by_name(codec) == nullptr) GTEST_SKIP() << "no encoder " << codec;
    VideoFormat format;
    format.codec = codec;
    format.size = {128, 96};
    const std::string path = dir_ / codec + ".mp4";
    {
      VideoFile file(path, format);
      for (int i = 0; i < 20; ++i) file.write({byte(50 + 5.0 * i), 128, 128});
    }
    const auto source = open_video(path);
    Frame frame;
    int last_level = 0;
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame) << codec << ", frame " << i;
      EXPECT_GT(level(frame), last_level) << codec << ", frame " << i;
      last_level = level(frame);
    }
    EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kEnd);
  }
}

TEST_F(VideoSourceTest, FramesThatGrowBeyondTheLimitAreLeftOut) {
  const std::string path = dir_ / "grows.mjpeg";
  for (const cv::Size& size : {cv::Size(64, 48), cv::Size(128, 96)}) {
    VideoFormat format;
    format.codec = "mjpeg";
    format.pixels = AV_PIX_FMT_YUVJ420P;
    format.size = size;
    const std::string part = dir_ / "part.mjpeg";
    {
      VideoFile file(part, format);
      for (int i = 0; i < 3; ++i) file.write({128, 128, 128});
    }
    std::ofstream(path, std::ios::binary | std::ios::app)
        << std::ifstream(part, std::ios::binary).rdbuf();
  }
  const auto count = [&path](std::int64_t max_pixels) {
    const auto source = open_video(path, max_pixels);
    Frame frame;
    int frames = 0;
    while (source->read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
    return frames;
  };
  EXPECT_EQ(count(128 * 96), 6);
  const CapturedLog log;
  EXPECT_EQ(count(64 * 48), 3);
  EXPECT_THAT(log.text(), HasSubstr("3 packets could not be decoded"));
}

TEST_F(VideoSourceTest, PhonesVideosAreTurnedUpright) {
  // Degrees clockwise, and where the bright upper left quarter comes to: x, y in percent.
  constexpr std::tuple<double, int, int> kTurns[] = {
      {0, 25, 25}, {90, 75, 25}, {180, 75, 75}, {270, 25, 75}};
  for (const auto& [degrees, x, y] : kTurns) {
    VideoFormat format;
    format.codec = "mpeg4";
    format.rotation = degrees;
    const std::string path = dir_ / "turned.mp4";
    VideoFile(path, format).write({16, 128, 128}, {235, 128, 128});
    const auto source = open_video(path);
    Frame frame;
    ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
    const bool lies = degrees == 0 || degrees == 180;
    ASSERT_EQ(frame.bgr.size(), lies ? cv::Size(64, 48) : cv::Size(48, 64)) << degrees;
    EXPECT_THAT(source->info().description, HasSubstr(lies ? "64x48" : "48x64"));
    cv::Mat gray;
    cv::extractChannel(frame.bgr, gray, 0);
    for (const int column : {25, 75}) {
      for (const int row : {25, 75}) {
        const bool bright = column == x && row == y;
        const int value = gray.at<unsigned char>(gray.rows * row / 100, gray.cols * column / 100);
        EXPECT_NEAR(value, bright ? 255 : 0, 8) << degrees << ": " << column << ", " << row;
      }
    }
  }
}

TEST_F(VideoSourceTest, NamesThatLookLikeAProtocolOrAPatternAreFiles) {
  const auto before = std::filesystem::current_path();
  for (const char* name : {"12:30.avi", "http:a.avi", "%03d.avi", "concat:a|b.avi"}) {
    std::filesystem::copy_file(video_, dir_ / name);
    std::filesystem::current_path(dir_.path());
    Frame frame;
    EXPECT_EQ(open_video(name)->read(frame, kTimeout), ReadStatus::kFrame) << name;
    EXPECT_EQ(frame.origin, name);
    std::filesystem::current_path(before);
  }
}

TEST_F(VideoSourceTest, ListsOfOtherFilesAreRefused) {
  const auto hls =
      dir_.write("list.mp4", "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:3\n#EXTINF:3.0,\n" +
                                 video_ + "\n#EXT-X-ENDLIST\n");
  const auto concat = dir_.write("concat.mp4", "ffconcat version 1.0\nfile walk.avi\n");
  for (const auto& path : {hls, concat}) {
    expect_error(ErrorKind::kNoInput, HasSubstr("neither a picture nor a video"),
                 [&] { open_video(path); });
  }
}

TEST_F(VideoSourceTest, WhatIsNoVideoIsAnErrorWithoutNoise) {
  const auto text = dir_.write("notes.mp4", "this is no video");
  const auto plain = dir_.write("notes.txt", "this is no video");
  const auto nothing = dir_.write("empty.mp4", "");
  std::filesystem::resize_file(video_, 4096);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const auto& path : {text, plain, nothing, video_}) {
    expect_error(ErrorKind::kNoInput, HasSubstr(path), [&] {
      Frame frame;
      open_source(path, {})->read(frame, kTimeout);
    });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

struct Colors {
  const char* name;
  AVColorSpace matrix;
  AVColorRange range;
  cv::Size size;
  // By them the picture is made. ITU-R BT.601 and BT.709: the shares of red and blue in the luma.
  double red;
  double blue;
  bool full;
};

class VideoColors : public testing::TestWithParam<Colors> {};

Yuv yuv_of(const cv::Vec3b& bgr, const Colors& colors) {
  const double luma =
      (colors.red * bgr[2] + (1 - colors.red - colors.blue) * bgr[1] + colors.blue * bgr[0]) / 255;
  const double u = (bgr[0] / 255.0 - luma) / (2 - 2 * colors.blue);
  const double v = (bgr[2] / 255.0 - luma) / (2 - 2 * colors.red);
  if (colors.full) return {byte(255 * luma), byte(128 + 255 * u), byte(128 + 255 * v)};
  return {byte(16 + 219 * luma), byte(128 + 224 * u), byte(128 + 224 * v)};
}

TEST_P(VideoColors, AreThoseOfTheFile) {
  const Colors& colors = GetParam();
  const TempDir dir;
  VideoFormat format;
  format.matrix = colors.matrix;
  format.range = colors.range;
  format.size = colors.size;
  constexpr unsigned char kLevels[] = {0, 90, 180, 255};
  for (const auto pixels : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV420P10}) {
    format.pixels = pixels;
    const std::string path = dir / "colors.mkv";
    {
      VideoFile file(path, format);
      for (const auto b : kLevels)
        for (const auto g : kLevels)
          for (const auto r : kLevels) file.write(yuv_of({b, g, r}, colors));
    }
    const auto source = open_video(path);
    Frame frame;
    double error = 0;
    for (const auto b : kLevels)
      for (const auto g : kLevels)
        for (const auto r : kLevels) {
          ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame);
          const cv::Mat wanted(frame.bgr.size(), CV_8UC3, cv::Scalar(b, g, r));
          error = std::max(error, cv::norm(frame.bgr, wanted, cv::NORM_INF));
        }
    EXPECT_LE(error, 4) << "format " << pixels;
  }
}

const cv::Size kSmall{64, 48};
const cv::Size kHd{1280, 16};
const Colors kColors[] = {
    {"Bt709", AVCOL_SPC_BT709, AVCOL_RANGE_MPEG, kSmall, 0.2126, 0.0722, false},
    {"Bt709Full", AVCOL_SPC_BT709, AVCOL_RANGE_JPEG, kSmall, 0.2126, 0.0722, true},
    {"Bt601", AVCOL_SPC_SMPTE170M, AVCOL_RANGE_MPEG, kSmall, 0.299, 0.114, false},
    {"Bt601Full", AVCOL_SPC_BT470BG, AVCOL_RANGE_JPEG, kSmall, 0.299, 0.114, true},
    {"UnknownSmall", AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED, kSmall, 0.299, 0.114, false},
    {"UnknownHd", AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED, kHd, 0.2126, 0.0722, false},
};
INSTANTIATE_TEST_SUITE_P(All, VideoColors, testing::ValuesIn(kColors),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lookout

// Videos of every usual codec and container: every frame once, in order, at its time.
#include <cmath>
#include <string>
#include <vector>

#include "platform/sources/video_module.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/video_file.h"

namespace lookout {
namespace {

using testing::IsEmpty;

constexpr int kCorpusFrames = 30;
constexpr int kFps = 25;
constexpr int kCorpusFirstLevel = 30;  // of the luma
constexpr int kCorpusStep = 6;

enum class Rhythm { kEven, kPauses };

struct Made {
  const char* name;
  const char* extension;
  const char* codec;
  AVPixelFormat pixels = AV_PIX_FMT_YUV420P;
  Rhythm rhythm = Rhythm::kEven;
  double audio_seconds = 0;
  double tolerance_ms = 1;
};

// Frames in the rhythm of somebody who moves now and then.
std::int64_t tick_of(int frame, Rhythm rhythm) {
  return rhythm == Rhythm::kEven ? frame : frame + frame / 7 * 40;
}

unsigned char level_of(int frame) {
  return static_cast<unsigned char>(kCorpusFirstLevel + frame * kCorpusStep);
}

// Gray and motion JPEG's pictures have the full range.
int frame_of(const cv::Mat& bgr, AVPixelFormat pixels) {
  const double value = bgr.at<cv::Vec3b>(bgr.rows / 2, bgr.cols / 2)[1];
  const bool full = pixels == AV_PIX_FMT_YUVJ420P || pixels == AV_PIX_FMT_GRAY8;
  const double level = full ? value : 16 + value * 219 / 255;
  return static_cast<int>(std::lround((level - kCorpusFirstLevel) / kCorpusStep));
}

class VideoCorpus : public testing::TestWithParam<Made> {};

TEST_P(VideoCorpus, EveryFrameComesOnceInOrderAtItsTime) {
  const Made& made = GetParam();
  if (avcodec_find_encoder_by_name(made.codec) == nullptr) {
    GTEST_SKIP() << "this FFmpeg has no encoder " << made.codec;
  }
  const TempDir dir;
  const std::string path = dir / "video." + made.extension;
  VideoFormat format;
  format.codec = made.codec;
  format.pixels = made.pixels;
  format.size = {128, 96};  // H.263 knows few others
  format.fps = kFps;
  format.audio_seconds = made.audio_seconds;
  {
    VideoFile file(path, format);
    for (int i = 0; i < kCorpusFrames; ++i) {
      const Yuv color{level_of(i), 128, 128};
      file.write(color, color, tick_of(i, made.rhythm));
    }
  }
  const CapturedLog log;
  const auto source = open_video(path);
  Frame frame;
  for (int i = 0; i < kCorpusFrames; ++i) {
    ASSERT_EQ(source->read(frame, kTimeout), ReadStatus::kFrame) << "frame " << i;
    EXPECT_EQ(frame_of(frame.bgr, made.pixels), i);
    const std::chrono::duration<double, std::milli> time = frame.media_time.value();
    const double wanted = 1000.0 / kFps * static_cast<double>(tick_of(i, made.rhythm));
    EXPECT_NEAR(time.count(), wanted, made.tolerance_ms) << "frame " << i;
  }
  EXPECT_EQ(source->read(frame, kTimeout), ReadStatus::kEnd);
  EXPECT_THAT(log.text(), IsEmpty());
}

const Made kCorpus[] = {
    {"H264", "mp4", "libx264"},
    {"H264In10Bits444", "mp4", "libx264", AV_PIX_FMT_YUV444P10},
    {"H264WithLongerSound", "mkv", "libx264", AV_PIX_FMT_YUV420P, Rhythm::kEven, 5},
    {"H264WithPausesInMp4", "mp4", "libx264", AV_PIX_FMT_YUV420P, Rhythm::kPauses},
    {"H264WithPausesInMatroska", "mkv", "libx264", AV_PIX_FMT_YUV420P, Rhythm::kPauses},
    {"HevcIn10Bits", "mp4", "libx265", AV_PIX_FMT_YUV420P10},
    {"Av1", "mp4", "libaom-av1"},
    {"Av1BySvt", "mkv", "libsvtav1"},
    {"Vp8", "webm", "libvpx"},
    {"Vp9", "webm", "libvpx-vp9"},
    // Not every frame has a time there.
    {"Mpeg2", "mpg", "mpeg2video", AV_PIX_FMT_YUV420P, Rhythm::kEven, 0, 1000.0 / kFps + 1},
    {"Mpeg2InTransportStream", "ts", "mpeg2video"},
    {"Mpeg4", "mp4", "mpeg4"},
    {"Mpeg4InAvi", "avi", "mpeg4"},
    {"Mpeg4WithPausesInAvi", "avi", "mpeg4", AV_PIX_FMT_YUV420P, Rhythm::kPauses},
    {"H263", "3gp", "h263"},
    {"Flv", "flv", "flv"},
    {"Wmv", "wmv", "wmv2"},
    {"ProRes", "mov", "prores_ks", AV_PIX_FMT_YUV422P10},
    {"Png", "mov", "png", AV_PIX_FMT_GRAY8},
    {"Ffv1", "mkv", "ffv1"},
    {"Ffv1Gray", "mkv", "ffv1", AV_PIX_FMT_GRAY8},
    {"Raw", "avi", "rawvideo"},
    {"MotionJpeg", "avi", "mjpeg", AV_PIX_FMT_YUVJ420P},
    {"MotionJpegInQuickTime", "mov", "mjpeg", AV_PIX_FMT_YUVJ420P},
    {"Gif", "gif", "gif", AV_PIX_FMT_GRAY8},
    {"Theora", "ogv", "libtheora"},
    {"Y4m", "y4m", "wrapped_avframe"},
};

INSTANTIATE_TEST_SUITE_P(All, VideoCorpus, testing::ValuesIn(kCorpus),
                         [](const auto& info) { return info.param.name; });

TEST(VideoStill, RepeatedFramesThatTheEncoderLeavesOutAreNotMissed) {
  const TempDir dir;
  for (const auto& [codec, name] :
       {std::pair("libtheora", "still.ogv"), {"libvpx", "still.webm"}}) {
    if (avcodec_find_encoder_by_name(codec) == nullptr) continue;
    VideoFormat format;
    format.codec = codec;
    const std::string path = dir / name;
    {
      VideoFile file(path, format);
      for (int i = 0; i < kCorpusFrames; ++i) file.write({100, 128, 128});
    }
    const auto source = open_video(path);
    Frame frame;
    int frames = 0;
    while (source->read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
    EXPECT_GT(frames, 0) << codec;
    EXPECT_LE(frames, kCorpusFrames) << codec;
  }
}

}  // namespace
}  // namespace lookout

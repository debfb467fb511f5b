// Videos that come through a pipe.
#include "platform/sources/stream_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/cameras/source_options.h"
#include "platform/sources/open_source.h"
#include "tests/support/fifo_writer.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/video_file.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kPipedFrames = 40;
constexpr int kPipedFirstLevel = 20;  // of the luma
constexpr int kPipedStep = 5;         // from frame to frame

class StreamSourceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkfifo(fifo_.c_str(), 0600), 0); }

  std::string bytes_of(const std::string& container, const std::string& codec,
                       const cv::Size& size = {64, 48}) {
    VideoFormat format;
    format.container = container;
    format.codec = codec;
    format.size = size;
    if (codec == "mjpeg") format.pixels = AV_PIX_FMT_YUVJ420P;
    const std::string path = dir_ / "video";
    {
      VideoFile file(path, format);
      for (int i = 0; i < kPipedFrames; ++i) {
        file.write({static_cast<unsigned char>(kPipedFirstLevel + i * kPipedStep), 128, 128});
      }
    }
    return read_file(path);
  }

  StreamOptions options(bool live = false) const { return {fifo_, live, kDefaultMaxPixels}; }

  const TempDir dir_;
  const std::string fifo_ = dir_ / "pipe";
};

// Motion JPEG has the full range.
std::optional<int> frame_number(Source& source, Frame& frame, bool full_range) {
  if (read_next(source, frame) != ReadStatus::kFrame) return std::nullopt;
  const double value = frame.bgr.at<cv::Vec3b>(24, 32)[0];
  const double level = full_range ? value : 16 + value * 219 / 255;
  return static_cast<int>(std::lround((level - kPipedFirstLevel) / kPipedStep));
}

struct Piped {
  const char* container;
  const char* codec;
};

constexpr Piped kPiped[] = {
    {"yuv4mpegpipe", "wrapped_avframe"},
    {"mjpeg", "mjpeg"},
    {"mpjpeg", "mjpeg"},
    {"image2pipe", "mjpeg"},
    {"mpegts", "mpeg2video"},
    {"matroska", "ffv1"},
    {"matroska", "mpeg4"},
    {"avi", "mjpeg"},
    {"nut", "ffv1"},
    {"mpegts", "libx264"},
    {"h264", "libx264"},
    {"matroska", "libx264"},
};

TEST_F(StreamSourceTest, EveryFrameComesOnceAndInOrder) {
  for (const auto& [container, codec] : kPiped) {
    SCOPED_TRACE(std::string(container) + " " + codec);
    if (avcodec_find_encoder_by_name(codec) == nullptr) continue;
    const FifoWriter writer(fifo_, bytes_of(container, codec));
    StreamSource source(options());
    EXPECT_FALSE(source.info().live);
    Frame frame;
    std::chrono::nanoseconds last{-1};
    for (int i = 0; i < kPipedFrames; ++i) {
      ASSERT_EQ(frame_number(source, frame, std::string_view(codec) == "mjpeg"), i);
      EXPECT_EQ(frame.origin, "");
      ASSERT_TRUE(frame.media_time);
      EXPECT_GT(*frame.media_time, last);
      last = *frame.media_time;
    }
    EXPECT_EQ(read_next(source, frame), ReadStatus::kEnd);
    EXPECT_EQ(read_next(source, frame), ReadStatus::kEnd);
  }
}

TEST_F(StreamSourceTest, AStreamThatWasCutIsItsEnd) {
  const std::string whole = bytes_of("matroska", "ffv1");
  const FifoWriter writer(fifo_, whole.substr(0, whole.size() / 2));
  StreamSource source(options());
  Frame frame;
  int frames = 0;
  while (read_next(source, frame) == ReadStatus::kFrame) ++frames;
  EXPECT_GT(frames, kPipedFrames / 4);
  EXPECT_LT(frames, kPipedFrames);
}

TEST_F(StreamSourceTest, NothingIsReadBeforeTheFirstFrameIsAskedFor) {
  const auto source = open_source(fifo_, {});
  EXPECT_THAT(source->info().description, AllOf(HasSubstr("stream"), HasSubstr(fifo_)));
  EXPECT_EQ(::open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1);
  EXPECT_EQ(errno, ENXIO) << "nobody has opened it for reading";
}

TEST_F(StreamSourceTest, AStreamWithoutAWriterTimesOutAndCanBeStopped) {
  StreamSource source(options());
  Frame frame;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
}

TEST_F(StreamSourceTest, AStreamWhoseWriterPausesCanBeStopped) {
  // Opened for both, so that the pipe has a writer that sends no more.
  const int fd = ::open(fifo_.c_str(), O_RDWR | O_CLOEXEC);
  const std::string start = bytes_of("yuv4mpegpipe", "wrapped_avframe").substr(0, 30'000);
  ASSERT_EQ(::write(fd, start.data(), start.size()), static_cast<ssize_t>(start.size()));
  {
    StreamSource source(options());
    Frame frame;
    EXPECT_EQ(frame_number(source, frame, false), 0);
    EXPECT_EQ(frame_number(source, frame, false), 1);
  }
  ::close(fd);
}

TEST_F(StreamSourceTest, OfALiveStreamRawVideoHasNoTimes) {
  for (const auto& [container, has_times] : {std::pair("mjpeg", false), {"matroska", true}}) {
    const FifoWriter writer(fifo_, bytes_of(container, "mjpeg"));
    StreamSource source(options(true));
    EXPECT_TRUE(source.info().live);
    Frame frame;
    EXPECT_EQ(frame_number(source, frame, true), 0);
    EXPECT_EQ(frame.media_time.has_value(), has_times) << container;
  }
}

void expect_no_stream(StreamSource& source, const testing::Matcher<std::string>& sentence) {
  expect_error(ErrorKind::kNoInput, sentence, [&source] {
    Frame frame;
    read_next(source, frame);
  });
}

TEST_F(StreamSourceTest, WhatIsNoVideoIsAnErrorThatNamesTheWayOut) {
  {
    const FifoWriter writer(fifo_, std::string(100'000, 'x'));
    StreamSource source(options());
    expect_no_stream(
        source, AllOf(HasSubstr("the stream in " + fifo_ + " is no video"), HasSubstr("Matroska")));
  }
  {
    const FifoWriter writer(fifo_, "");
    StreamSource source(options());
    expect_no_stream(source, HasSubstr("ended before anything came"));
  }
  {
    const FifoWriter writer(fifo_, bytes_of("mov", "rawvideo", {640, 480}));
    StreamSource source(options());
    expect_no_stream(source, AllOf(HasSubstr("index at the end"), HasSubstr("-f matroska")));
  }
}

TEST_F(StreamSourceTest, AFrameBeyondTheLimitIsRefused) {
  const FifoWriter writer(fifo_, bytes_of("matroska", "ffv1"));
  StreamSource source({fifo_, false, 64 * 48 - 1});
  expect_no_stream(source, HasSubstr("is too large: 64x48 pixels, the limit is 0.003071 megapixels "
                                     "(camera.max-pixels)"));
}

}  // namespace
}  // namespace lookout

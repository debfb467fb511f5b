// Faults of a camera, which need the one of fake_camera.h, preloaded.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <opencv2/core.hpp>
#include <regex>
#include <string>
#include <thread>

#include "platform/cameras/v4l2_source.h"
#include "platform/sources/open_source.h"
#include "tests/platform/cameras/fake_hint.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

class FaultyCameraTest : public testing::Test {
 public:
  void set_fault(const std::string& words) const {
    if (!file_.empty()) std::ofstream(file_) << words;
  }

 protected:
  void SetUp() override {
    const char* camera = std::getenv("LOOKOUT_FAKE_CAMERA");
    const char* file = std::getenv("LOOKOUT_FAKE_FAULT");
    if (camera == nullptr || file == nullptr) GTEST_SKIP() << "fake_camera.h is not preloaded";
    camera_ = camera;
    file_ = file;
    set_fault("");
    jpeg_.width = 640;  // which the camera gives as MJPG only at this rate
    jpeg_.height = 480;
  }
  void TearDown() override { set_fault(""); }

  std::string camera_;
  std::string file_;
  SourceOptions jpeg_;
};

// Reads until the camera is there, or is not.
void read_until(Source& source, Frame& frame, bool online) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && source.online() != online; ++i) source.read(frame, kTimeout);
  ASSERT_EQ(source.online(), online);
}

TEST_F(FaultyCameraTest, ComesBackWithAnotherSize) {
  const auto source = open_source(camera_, {});
  Frame frame;
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  const cv::Size size = whole_picture(frame).size();
  set_fault("lost");
  read_until(*source, frame, false);
  set_fault("resized");
  read_until(*source, frame, true);
  EXPECT_NE(whole_picture(frame).size(), size);
}

TEST_F(FaultyCameraTest, LostWhileItIsOpenedIsAnError) {
  set_fault("lost");
  expect_error(ErrorKind::kNoInput, HasSubstr(camera_ + " cannot be opened"),
               [&] { V4l2Source source(camera_, {}); });
}

TEST_F(FaultyCameraTest, TakenByAnotherProgramWhileItIsOpenedIsInUse) {
  set_fault("busy");
  expect_error(ErrorKind::kDeviceLost, HasSubstr(camera_ + " is in use by another program"),
               [&] { V4l2Source source(camera_, {}); });
}

TEST_F(FaultyCameraTest, TooLittleOfTheUsbBusIsAnErrorThatSaysWhatHelps) {
  set_fault("crowded");
  V4l2Source source(camera_, {});
  Frame frame;
  expect_error(ErrorKind::kDeviceLost,
               AllOf(HasSubstr(camera_ + " cannot be started"), HasSubstr("camera.width")),
               [&] { source.read(frame, kTimeout); });
}

TEST_F(FaultyCameraTest, NodeOfAPipelineIsACameraWhenSomebodySetItUp) {
  set_fault("pipeline unlinked");
  expect_error(ErrorKind::kNoInput, AllOf(HasSubstr(camera_), HasSubstr("use csi://0")),
               [&] { V4l2Source source(camera_, {}); });
  set_fault("pipeline");
  expect_error(ErrorKind::kNoInput, HasSubstr("use csi://0"), [&] { probe_camera(camera_); });
  V4l2Source source(camera_, {});
  Frame frame;
  EXPECT_EQ(read_next(source, frame), ReadStatus::kFrame);
}

TEST_F(FaultyCameraTest, FormatThatCannotBeReadIsAnError) {
  set_fault("foreign");
  expect_error(ErrorKind::kNoInput, HasSubstr(camera_ + " has only H264, which cannot be read"),
               [&] { V4l2Source source(camera_, {}); });
}

TEST_F(FaultyCameraTest, WithoutAFormatThatCanBeReadItIsAnError) {
  set_fault("encoded");
  expect_error(
      ErrorKind::kNoInput,
      AllOf(HasSubstr(camera_ + " has only H264, which cannot be read; pipe it: "),
            HasSubstr("-input_format h264 -i " + camera_ + " -c copy -f matroska - | lookout")),
      [&] { V4l2Source source(camera_, {}); });
  set_fault("thermal");
  expect_error(ErrorKind::kNoInput,
               AllOf(HasSubstr(camera_ + " has only Y16, Z16, which cannot be read; pipe it: "),
                     HasSubstr("-i " + camera_ + " -pix_fmt yuv420p -f yuv4mpegpipe - | lookout")),
               [&] { V4l2Source source(camera_, {}); });
}

// Its bars go from black to three quarters of white.
TEST_F(FaultyCameraTest, RangeThatIsNotDeclaredIsMeasured) {
  const CapturedLog log;
  for (const char* fault : {"", "silentrange"}) {
    set_fault(fault);
    V4l2Source source(camera_, {});
    Frame frame;
    ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
    cv::Mat bars;
    cv::extractChannel(whole_picture(frame), bars, 1);
    double darkest = 0;
    double brightest = 0;
    cv::minMaxLoc(bars, &darkest, &brightest);
    EXPECT_NEAR(darkest, 0, 3) << fault;
    EXPECT_NEAR(brightest, 191, 3) << fault;
  }
  EXPECT_THAT(log.text(), HasSubstr("camera " + camera_ + " declares no color range: the luma of"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("limited range is taken"), HasSubstr("full range")));
  set_fault("fullrange");
  const std::string before = log.text();
  V4l2Source source(camera_, {});
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  EXPECT_EQ(log.text(), before) << "declared";
}

TEST_F(FaultyCameraTest, SizeThatIsNotListedCanBeAskedForAllTheSame) {
  set_fault("unlisted");
  V4l2Source source(camera_, jpeg_);
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  EXPECT_EQ(whole_picture(frame).size(), cv::Size(640, 480));
}

TEST_F(FaultyCameraTest, LostWhileItStreamsIsAnError) {
  V4l2Source source(camera_, {});
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  set_fault("lost");
  expect_error(ErrorKind::kDeviceLost, HasSubstr(camera_ + " was disconnected or failed"),
               [&] { source.read(frame, kTimeout); });
}

TEST_F(FaultyCameraTest, OneFailureMayPassManyAreALoss) {
  V4l2Source source(camera_, {});
  Frame frame;
  set_fault("eio");
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
  set_fault("");
  EXPECT_EQ(read_next(source, frame), ReadStatus::kFrame);
  set_fault("eio");
  expect_error(ErrorKind::kDeviceLost, HasSubstr(camera_ + " was disconnected or failed"),
               [&] { read_next(source, frame); });
}

TEST_F(FaultyCameraTest, StaysOpenWithoutFrames) {
  set_fault("stalled");
  V4l2Source source(camera_, {});
  Frame frame;
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
  EXPECT_EQ(source.read(frame, kTimeout), ReadStatus::kTimeout);
  set_fault("");
  EXPECT_EQ(read_next(source, frame), ReadStatus::kFrame);
}

// A busy machine decodes JPEGs on another thread, and drops some.
ReadStatus read_kept(V4l2Source& source, Frame& frame) {
  ReadStatus status = read_next(source, frame);
  while (status == ReadStatus::kDropped) status = read_next(source, frame);
  return status;
}

// Every frame is skipped while there is that fault, and then they come again.
void expect_skipped(const FaultyCameraTest& test, V4l2Source& source, const std::string& fault) {
  constexpr int kInFlight = 2;  // taken before the fault comes, or goes
  Frame frame;
  const auto read_past = [&](ReadStatus past) {
    ReadStatus status = read_kept(source, frame);
    for (int i = 0; i < kInFlight && status == past; ++i) status = read_kept(source, frame);
    return status;
  };
  test.set_fault(fault);
  EXPECT_EQ(read_past(ReadStatus::kFrame), ReadStatus::kSkipped);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(read_kept(source, frame), ReadStatus::kSkipped);
  test.set_fault("");
  EXPECT_EQ(read_past(ReadStatus::kSkipped), ReadStatus::kFrame);
}

TEST_F(FaultyCameraTest, JpegThatEndsTooEarlyIsSkipped) {
  V4l2Source source(camera_, jpeg_);
  expect_skipped(*this, source, "short");
}

TEST_F(FaultyCameraTest, JpegOfAnotherSizeThanWasGrantedHasItsOwn) {
  set_fault("othersize");
  const CapturedLog log;
  const auto source = open_source(camera_, jpeg_);
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
    EXPECT_EQ(whole_picture(frame).size(), cv::Size(352, 288));
  }
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("granted 640x480, but its pictures are 352x288"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  set_fault("");
  ASSERT_EQ(read_next(*source, frame), ReadStatus::kFrame);
  EXPECT_EQ(whole_picture(frame).size(), cv::Size(640, 480));
}

TEST_F(FaultyCameraTest, JpegOfTheGrantedSizeIsNothingToTell) {
  V4l2Source source(camera_, jpeg_);
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  EXPECT_EQ(frame.picture.kind, CameraPicture::Kind::kJpeg);
  EXPECT_EQ(source.info().shortfall, "");
}

TEST_F(FaultyCameraTest, RawFrameThatEndsTooEarlyIsSkipped) {
  V4l2Source source(camera_, {});
  expect_skipped(*this, source, "short");
}

TEST_F(FaultyCameraTest, FrameThatTheDriverCallsDamagedIsSkipped) {
  V4l2Source raw(camera_, {});
  expect_skipped(*this, raw, "error");
}

TEST_F(FaultyCameraTest, JpegThatTheDriverCallsDamagedIsSkipped) {
  V4l2Source source(camera_, jpeg_);
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);  // so that buffers hold whole ones
  expect_skipped(*this, source, "error");
}

TEST_F(FaultyCameraTest, EmptyFrameIsSkipped) {
  V4l2Source source(camera_, {});
  expect_skipped(*this, source, "empty");
}

TEST_F(FaultyCameraTest, EmptyJpegIsSkipped) {
  V4l2Source source(camera_, jpeg_);
  expect_skipped(*this, source, "empty");
}

TEST_F(FaultyCameraTest, RateIsSetSinceTheCameraHasAnother) {
  const V4l2Source source(camera_, {});
  EXPECT_EQ(source.info().fps, 30);
  EXPECT_EQ(source.info().shortfall, "");
}

TEST_F(FaultyCameraTest, RateIsTheOneAskedForWhereTheCameraHasAny) {
  SourceOptions options;
  options.framerate = 17;
  EXPECT_EQ(V4l2Source(camera_, options).info().fps, 30) << "of a camera that has this one alone";
  set_fault("anyrate");
  EXPECT_EQ(V4l2Source(camera_, options).info().fps, 17);
}

TEST_F(FaultyCameraTest, RateThatCannotBeSetIsToldAllTheSame) {
  set_fault("fixedrate");
  const V4l2Source source(camera_, {});
  EXPECT_EQ(source.info().fps, 15);
  EXPECT_THAT(source.info().shortfall,
              AllOf(HasSubstr("asked for 320x240 at 30"), HasSubstr("gives 320x240 at 15")));
}

TEST_F(FaultyCameraTest, PaddingIsNotOfThePicture) {
  Frame plain;
  Frame padded;
  {
    V4l2Source source(camera_, {});
    ASSERT_EQ(read_next(source, plain), ReadStatus::kFrame);
  }
  set_fault("padded");
  V4l2Source source(camera_, {});
  ASSERT_EQ(read_next(source, padded), ReadStatus::kFrame);
  ASSERT_EQ(padded.bgr.size(), plain.bgr.size());
  EXPECT_EQ(cv::norm(padded.bgr, plain.bgr, cv::NORM_INF), 0);
}

// The first bar is a gray of 192, which is a luma of 181 in the limited range.
TEST_F(FaultyCameraTest, RangeOfThePictureIsTheGrantedOne) {
  const auto gray = [this] {
    V4l2Source source(camera_, {});
    Frame frame;
    EXPECT_EQ(read_next(source, frame), ReadStatus::kFrame);
    return static_cast<int>(whole_picture(frame).at<cv::Vec3b>(10, 10)[1]);
  };
  EXPECT_NEAR(gray(), 192, 2);
  set_fault("fullrange");
  EXPECT_NEAR(gray(), 181, 2);
}

// Bars that look the same in both color spaces.
TEST_F(FaultyCameraTest, ColorsAreThoseOfTheGrantedColorSpace) {
  const auto picture = [this](const char* fault) {
    set_fault(fault);
    V4l2Source source(camera_, {});
    Frame frame;
    EXPECT_EQ(read_next(source, frame), ReadStatus::kFrame);
    return whole_picture(frame).clone();
  };
  const cv::Mat sd = picture("");
  const cv::Mat hd = picture("bt709");
  for (int bar = 0; bar < 8; ++bar) {
    const int x = sd.cols * (2 * bar + 1) / 16;
    EXPECT_LE(cv::norm(sd.at<cv::Vec3b>(10, x), hd.at<cv::Vec3b>(10, x), cv::NORM_INF), 3) << bar;
  }
}

// A frame of the fake camera was captured 50 ms before it can be taken.
TEST_F(FaultyCameraTest, FramesAreOfTheTimeThatTheDriverTells) {
  V4l2Source source(camera_, {});
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    const auto before = Clock::now();
    ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
    EXPECT_GE(frame.captured, before - milliseconds(50));
    EXPECT_LE(frame.captured, Clock::now() - milliseconds(50));
  }
}

TEST_F(FaultyCameraTest, FramesWithoutATimeOfAKnownClockAreOfNow) {
  V4l2Source source(camera_, {});
  for (const char* fault : {"unstamped", "otherclock"}) {
    set_fault(fault);
    Frame frame;
    for (int i = 0; i < 3; ++i) {
      const auto before = Clock::now();
      ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
      EXPECT_GE(frame.captured, before) << fault;
      EXPECT_LE(frame.captured, Clock::now()) << fault;
    }
  }
}

TEST_F(FaultyCameraTest, NoFrameIsFromTheFuture) {
  V4l2Source source(camera_, {});
  set_fault("future");
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
    EXPECT_LE(frame.captured, Clock::now());
  }
}

TEST_F(FaultyCameraTest, FramesThatTheDriverDroppedAreCounted) {
  const CapturedLog log;
  log.keep_debug();
  {
    V4l2Source source(camera_, {});
    set_fault("gaps");
    Frame frame;
    for (int i = 0; i < 6; ++i) ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  }
  const std::string text = log.text();
  const std::regex sentence("the driver dropped ([0-9]+) frames");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, sentence)) << text;
  EXPECT_GE(std::stoi(found[1]), 5 * 2) << "and more on a machine that is slow";
}

// A clock by which each JPEG takes `step` to decode, and who asked it last.
struct DecodeClock {
  JpegNow now() {
    return [this] {
      asked_by = std::this_thread::get_id();
      return Clock::time_point(Clock::duration(ticks += step.load() / 2));
    };
  }
  std::atomic<Clock::rep> ticks{0};
  std::atomic<Clock::rep> step{0};
  std::atomic<std::thread::id> asked_by;
};

constexpr Clock::rep kSlow = Clock::duration(milliseconds(60)).count();  // at 30 fps
constexpr int kManyFrames = 60;  // in which the average of their times settles

TEST_F(FaultyCameraTest, JpegsThatTakeLongAreDecodedOnAnotherThreadWhileTheyDo) {
  DecodeClock clock;
  V4l2Source source(camera_, jpeg_, clock.now());
  Frame frame;
  const auto read_on = [&](bool here) {
    for (int i = 0; i < kManyFrames; ++i) {
      const auto before = frame.captured;
      EXPECT_EQ(read_kept(source, frame), ReadStatus::kFrame);
      EXPECT_GT(frame.captured, before);
      EXPECT_EQ(whole_picture(frame).size(), cv::Size(640, 480));
      if ((clock.asked_by.load() == std::this_thread::get_id()) == here) return true;
    }
    return false;
  };
  EXPECT_TRUE(read_on(/*here=*/true));
  clock.step = kSlow;
  EXPECT_TRUE(read_on(/*here=*/false));
  EXPECT_GE(frame.capture_duration, Clock::duration(kSlow / 2)) << "decoding is a part of it";
  expect_skipped(*this, source, "short");
  clock.step = 0;
  EXPECT_TRUE(read_on(/*here=*/true));
}

TEST_F(FaultyCameraTest, JpegThatANewerOneReplacesIsDropped) {
  Gate gate;
  DecodeClock clock;
  clock.step = kSlow;
  const auto here = std::this_thread::get_id();
  FakeHint hint([&](int) {
    if (std::this_thread::get_id() != here) gate.wait();
    return false;
  });
  jpeg_.frame_hint = &hint;
  V4l2Source source(camera_, jpeg_, clock.now());
  Frame frame;
  ReadStatus status = ReadStatus::kTimeout;
  for (int i = 0; i < kManyFrames && status != ReadStatus::kDropped; ++i) {
    status = read_next(source, frame);
  }
  EXPECT_EQ(status, ReadStatus::kDropped);
  gate.open();
  while (status == ReadStatus::kDropped) status = read_next(source, frame);
  EXPECT_EQ(status, ReadStatus::kFrame);
}

TEST_F(FaultyCameraTest, StillJpegIsNotDecodedUntilSomebodyWantsIt) {
  FakeHint hint([](int) { return true; });
  jpeg_.frame_hint = &hint;
  V4l2Source source(camera_, jpeg_);
  Frame frame;
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  EXPECT_TRUE(frame.picture.has_reduced) << "the first one";
  ASSERT_EQ(read_next(source, frame), ReadStatus::kFrame);
  EXPECT_FALSE(frame.picture.has_reduced);
  EXPECT_EQ(whole_picture(frame).size(), cv::Size(640, 480));
}

TEST_F(FaultyCameraTest, JpegWithWrongBytesIsSkippedOrAPicture) {
  V4l2Source source(camera_, jpeg_);
  set_fault("corrupt");
  testing::internal::CaptureStderr();
  Frame frame;
  for (int i = 0; i < 60; ++i) {
    if (read_next(source, frame) == ReadStatus::kFrame) {
      EXPECT_FALSE(whole_picture(frame).empty());
    }
  }
  // Decoders print messages of their own.
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(HasSubstr("JPEG data")));
}

}  // namespace
}  // namespace lookout

// lookout against processes that decode streams, and do not do so.
#include "platform/decoder/stream_process.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

#include "tests/support/captured_log.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::milliseconds kSoon{50};

class StreamProcessTest : public testing::Test {
 protected:
  StreamProcessOptions options(const std::string& deed) const {
    StreamProcessOptions options;
    options.program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_stream_decoder";
    options.url = deed;
    options.shown = "a camera";
    options.max_pixels = 1'000'000;
    options.timeout = std::chrono::hours(1);
    options.stop = &stop_;
    return options;
  }

  // Of the process that does `deed`, before or after the video is open.
  void expect_loss(const StreamProcessOptions& options, const std::string& sentence) const {
    expect_error(ErrorKind::kNoInput, AllOf(HasSubstr("a camera: "), HasSubstr(sentence)), [&] {
      StreamProcess process(options);
      read_until_end(process);
    });
  }

  static int read_until_end(StreamProcess& process) {
    Frame frame;
    int frames = 0;
    while (process.read(frame, kTimeout) == ReadStatus::kFrame) ++frames;
    return frames;
  }

  std::atomic<bool> stop_ = false;
};

TEST_F(StreamProcessTest, AFrameIsTakenAndTheEndTold) {
  StreamProcess process(options("file/frame"));
  EXPECT_FALSE(process.info().live);
  EXPECT_EQ(process.info().description, "a video");
  Frame frame;
  ASSERT_EQ(process.read(frame, kTimeout), ReadStatus::kFrame);
  EXPECT_EQ(frame.bgr.size(), cv::Size(2, 1));
  EXPECT_FALSE(frame.media_time);
  StreamProcess other(options("live/ends"));
  EXPECT_TRUE(other.info().live);
  EXPECT_EQ(read_until_end(other), 0);
}

TEST_F(StreamProcessTest, WhatIsNoFrameIsALoss) {
  for (const char* deed :
       {"wide", "large", "negative", "zero", "other slot", "negative slot", "endless text",
        "other kind", "second report", "second opening", "short"}) {
    SCOPED_TRACE(deed);
    expect_loss(options("live/" + std::string(deed)), "its decoder sent nonsense");
  }
  expect_loss(options("frame"), "its decoder sent nonsense");  // before it is open
}

TEST_F(StreamProcessTest, AnEndIsALoss) {
  expect_loss(options("aborts"), "its decoder ended: Aborted (signal 6)");
  expect_loss(options("live/aborts"), "its decoder ended: Aborted (signal 6)");
  expect_loss(options("live/exits"), "its decoder ended: exit status 3");
}

TEST_F(StreamProcessTest, AKillIsALoss) {
  StreamProcess process(options("live/frame"));
  Frame frame;
  ASSERT_EQ(process.read(frame, kTimeout), ReadStatus::kFrame);
  kill(process.pid(), SIGKILL);
  expect_error(ErrorKind::kNoInput, HasSubstr("its decoder ended: Killed (signal 9)"),
               [&] { process.read(frame, kTimeout); });
}

TEST_F(StreamProcessTest, OneThatDoesNotAnswerIsALoss) {
  for (const char* deed : {"hangs", "live/hangs"}) {
    StreamProcessOptions hurried = options(deed);
    hurried.timeout = std::chrono::seconds(1);  // for the start, too
    hurried.grace = kSoon;
    expect_loss(hurried, "its decoder does not answer");
  }
}

TEST_F(StreamProcessTest, AStopEndsTheWait) {
  StreamProcess process(options("live/hangs"));
  stop_ = true;
  Frame frame;
  expect_error(ErrorKind::kNoInput, HasSubstr("stopped"), [&] { process.read(frame, kTimeout); });
}

TEST_F(StreamProcessTest, ItHasNoOtherDescriptorAndNothingShowsTheAddress) {
  expect_error(ErrorKind::kNoInput, testing::StrEq(std::to_string(kStreamNetwork) + " hidden"),
               [&] { const StreamProcess process(options("secret")); });
}

TEST_F(StreamProcessTest, TextsAreEscapedAndKindsOfErrorsAreNotBelieved) {
  expect_error(ErrorKind::kNoInput, HasSubstr("is\\nbroken"),
               [&] { const StreamProcess process(options("odd error")); });
}

TEST_F(StreamProcessTest, LinesAreEscapedAndFew) {
  const CapturedLog log;
  StreamProcess process(options("live/chatters"));
  Frame frame;
  ASSERT_EQ(process.read(frame, kTimeout), ReadStatus::kFrame);
  const std::string text = log.text();
  EXPECT_THAT(text, AllOf(HasSubstr("a\\nline"), Not(HasSubstr("a\nline"))));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST_F(StreamProcessTest, TimesAreBounded) {
  StreamProcess process(options("live/odd times"));
  Frame first;
  ASSERT_EQ(process.read(first, kTimeout), ReadStatus::kFrame);
  Frame second;
  ASSERT_EQ(process.read(second, kTimeout), ReadStatus::kFrame);
  EXPECT_LE(first.captured, Clock::now());
  EXPECT_GE(first.capture_duration, Clock::duration::zero());
  EXPECT_GE(second.captured, first.captured);
  EXPECT_LE(second.captured + second.capture_duration, Clock::now());
  EXPECT_EQ(second.media_time, first.media_time) << "it does not go back";
}

TEST_F(StreamProcessTest, ARequestThatIsNoneCostsTheNetworkAlone) {
  StreamProcess process(options("live/asks nonsense"));
  Frame frame;
  EXPECT_EQ(process.read(frame, kTimeout), ReadStatus::kFrame);
}

TEST_F(StreamProcessTest, AProgramThatIsMissingOrDoesNotStartEndsTheRun) {
  StreamProcessOptions missing = options("");
  missing.program = "/nowhere";
  expect_error(ErrorKind::kUnsupported, HasSubstr("/nowhere cannot be started: No such file"),
               [&] { const StreamProcess process(missing); });
  expect_error(ErrorKind::kUnsupported, HasSubstr("does not start: exit status 3"),
               [&] { const StreamProcess process(options("exits at once")); });
  expect_error(ErrorKind::kUnsupported, HasSubstr("no FFmpeg"),
               [&] { const StreamProcess process(options("no FFmpeg")); });
}

TEST_F(StreamProcessTest, AnAddressThatIsTooLongIsRefused) {
  expect_error(ErrorKind::kNoInput, HasSubstr("the address is too long"),
               [&] { const StreamProcess process(options(std::string(5000, 'x'))); });
}

}  // namespace
}  // namespace lookout

#include "platform/decoder/decoder_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>

#include "pipeline/core/error.h"
#include "platform/pictures/decode_upload.h"
#include "tests/support/captured_log.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::string picture(int width = 64, int height = 48) {
  const Bytes bytes = encoded(cv::Mat(height, width, CV_8UC3, cv::Scalar(10, 200, 30)));
  return {bytes.begin(), bytes.end()};
}

DecodeLimits limits_of(std::int64_t pixels) {
  DecodeLimits limits;
  limits.pixels = pixels;
  limits.side = 16'384;
  return limits;
}
const DecodeLimits kLimits = limits_of(25'000'000);

DecoderOptions fake() {
  DecoderOptions options;
  options.program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_decoder";
  return options;
}

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

struct DecoderProcessTest : testing::Test {
  CapturedLog log;
  DecoderCounters counters;
};

TEST_F(DecoderProcessTest, DecodesAsThisProcessDoes) {
  DecoderProcess decoder({}, counters);
  const std::string jpeg = picture();
  const DecodedPicture there = decoder.decode(jpeg, kLimits);
  const DecodedPicture here = decode_upload(jpeg, kLimits);
  ASSERT_EQ(there.problem, DecodeProblem::kNone) << there.message;
  EXPECT_EQ(cv::norm(there.bgr, here.bgr, cv::NORM_INF), 0);
}

TEST_F(DecoderProcessTest, TellsWhyThereIsNoPictureAsThisProcessDoes) {
  DecoderProcess decoder({}, counters);
  for (const std::string& bytes : {picture().substr(0, 300), std::string("text")}) {
    const DecodedPicture there = decoder.decode(bytes, kLimits);
    const DecodedPicture here = decode_upload(bytes, kLimits);
    EXPECT_NE(there.problem, DecodeProblem::kNone);
    EXPECT_EQ(there.problem, here.problem);
    EXPECT_EQ(there.message, here.message);
  }
  EXPECT_EQ(decoder.decode(picture(), limits_of(100)).problem, DecodeProblem::kTooManyPixels);
  EXPECT_EQ(counters.starts, 1U);
}

TEST_F(DecoderProcessTest, OneProcessTakesManyPictures) {
  DecoderProcess decoder({}, counters);
  EXPECT_EQ(decoder.pid(), -1) << "it starts with the first picture";
  for (const int width : {64, 2000, 16, 3000}) {  // above and below what keeps its memory
    const DecodedPicture result = decoder.decode(picture(width, width), kLimits);
    ASSERT_EQ(result.problem, DecodeProblem::kNone) << result.message;
    EXPECT_EQ(result.bgr.size(), cv::Size(width, width));
    const cv::Vec3b last = result.bgr.at<cv::Vec3b>(width - 1, width - 1);
    EXPECT_NEAR(last[1], 200, 3);
  }
  EXPECT_EQ(counters.starts, 1U);
  EXPECT_EQ(log.text(), "");
}

TEST_F(DecoderProcessTest, TenKillsInARowHarmNoPicture) {
  DecoderProcess decoder({}, counters);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
    kill(decoder.pid(), SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(decoder.pid()), &info, WEXITED | WNOWAIT);
  }
  EXPECT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(counters.starts, 11U);
  EXPECT_EQ(counters.ended, 0U) << "it had no picture";
  EXPECT_LT(lines(log.text()), 10) << "not each: " << log.text();
  EXPECT_THAT(log.text(), HasSubstr("Killed (signal 9)"));
}

TEST_F(DecoderProcessTest, KilledWithAPictureItGivesOneAnswerAndTheNextPictureIsServed) {
  DecoderProcess decoder(fake(), counters);
  ASSERT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
  DecodeLimits limits = kLimits;
  std::uint64_t killed = 0;
  limits.cancelled = [&] {  // also asked while one starts
    if (counters.starts > killed) {
      kill(decoder.pid(), SIGKILL);
      killed = counters.starts;
    }
    return false;
  };
  const DecodedPicture result = decoder.decode("hangs", limits);
  EXPECT_EQ(result.problem, DecodeProblem::kDamaged);
  EXPECT_EQ(result.message, "cannot be decoded: the decoder ended");
  EXPECT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(counters.ended, 1U);
  EXPECT_EQ(lines(log.text()), 1) << log.text();
}

TEST_F(DecoderProcessTest, WhatHangsIsKilledWhenTheDeadlineIsOver) {
  DecoderOptions options;
  options.deadline = milliseconds(2000);  // enough for a picture on a busy machine
  DecoderProcess decoder(options, counters);
  ASSERT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
  const pid_t stopped = decoder.pid();
  kill(stopped, SIGSTOP);
  const DecodedPicture result = decoder.decode(picture(), kLimits);
  EXPECT_EQ(result.problem, DecodeProblem::kDamaged);
  EXPECT_EQ(result.message, "takes longer than 2 s to decode");
  EXPECT_EQ(kill(stopped, 0), -1) << "it lives";
  EXPECT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(counters.late, 1U);
  EXPECT_EQ(lines(log.text()), 1) << log.text();
}

TEST_F(DecoderProcessTest, NobodyWaitsForOneThatIsCancelled) {
  DecoderProcess decoder(fake(), counters);
  ASSERT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
  DecodeLimits limits = kLimits;
  limits.cancelled = [] { return true; };
  EXPECT_EQ(decoder.decode("hangs", limits).problem, DecodeProblem::kCancelled);
  EXPECT_EQ(decoder.pid(), -1);
  EXPECT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(log.text(), "");
}

TEST_F(DecoderProcessTest, NonsenseIsNoPicture) {
  DecoderProcess decoder(fake(), counters);
  std::uint64_t count = 0;
  for (const char* deed : {"short", "long", "other number", "wide", "large", "negative", "zero",
                           "problem", "negative problem", "endless text"}) {
    const DecodedPicture result = decoder.decode(deed, kLimits);
    EXPECT_EQ(result.problem, DecodeProblem::kDamaged) << deed;
    EXPECT_TRUE(result.bgr.empty()) << deed;
    EXPECT_EQ(counters.nonsense, ++count) << deed;
    EXPECT_EQ(decoder.decode("fine", kLimits).bgr.size(), cv::Size(2, 1)) << deed;
  }
  EXPECT_EQ(lines(log.text()), 1) << log.text();
}

TEST_F(DecoderProcessTest, OneThatEndsIsStartedAgain) {
  DecoderProcess decoder(fake(), counters);
  for (const char* deed : {"exits", "aborts", "empty"}) {
    EXPECT_EQ(decoder.decode(deed, kLimits).problem, DecodeProblem::kDamaged) << deed;
    EXPECT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone) << deed;
  }
  EXPECT_EQ(counters.ended, 3U);
}

TEST_F(DecoderProcessTest, AnAnswerThatNobodyAskedForIsNotTheNextOnes) {
  DecoderProcess decoder(fake(), counters);
  EXPECT_EQ(decoder.decode("twice", kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(decoder.decode("text", kLimits).problem, DecodeProblem::kDamaged);
  EXPECT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(counters.starts, 2U);
}

TEST_F(DecoderProcessTest, ItsTextCannotMakeLines) {
  DecoderProcess decoder(fake(), counters);
  EXPECT_EQ(decoder.decode("text", kLimits).message, "is\\nbroken");
}

TEST_F(DecoderProcessTest, ItHasNoDescriptorsButItsOwn) {
  DecoderProcess decoder(fake(), counters);
  const int other = open("/dev/null", O_RDONLY);  // not to be inherited
  EXPECT_EQ(decoder.decode("descriptors", kLimits).bgr.cols, kDecoderOutput);
  close(other);
}

TEST_F(DecoderProcessTest, MemoryThatItFillsIsFreed) {
  DecoderOptions options = fake();
  options.max_pixels = 1'000'000;
  DecoderProcess decoder(options, counters);
  EXPECT_EQ(decoder.decode("memory", kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(decoder.decode("fine", kLimits).problem, DecodeProblem::kNone);
}

TEST_F(DecoderProcessTest, OneThatCannotBeStartedIsNamed) {
  const TempDir folder;
  const auto program = folder.path() / "decoder";
  DecoderOptions options;
  options.program = program;
  const auto expect_sentence = [&](const std::string& why) {
    DecoderProcess decoder(options, counters);
    try {
      decoder.decode("fine", kLimits);
      ADD_FAILURE() << "it was started";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_EQ(error.what(), program.string() + why);
    }
  };
  expect_sentence(" cannot be started: No such file or directory");
  std::ofstream(program) << "#!/bin/sh\necho no library >&2; exit 127\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  expect_sentence(" does not start: no library");
  std::ofstream(program) << "#!/bin/sh\nkill -SEGV $$\n";
  expect_sentence(" does not start: Segmentation fault (signal 11)");
  EXPECT_EQ(counters.unavailable, 3U);
  EXPECT_EQ(counters.starts, 0U);
}

// An emulator's kernel cannot execute the program: what posix_spawn() leaves then.
TEST_F(DecoderProcessTest, UnderAnEmulatorThisProcessDecodes) {
  const TempDir folder;
  DecoderOptions options;
  options.program = folder.path() / "decoder";
  std::ofstream(options.program) << "#!/bin/sh\nexit 127\n";
  std::filesystem::permissions(options.program, std::filesystem::perms::owner_all);
  DecoderProcess decoder(options, counters);
  EXPECT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(decoder.decode(picture(), kLimits).problem, DecodeProblem::kNone);
  EXPECT_EQ(lines(log.text()), 1) << log.text();
}

}  // namespace
}  // namespace lookout

#include "platform/sources/replay_source.h"

#include <gtest/gtest.h>

#include "pipeline/core/error.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kNoTime{0};
constexpr std::chrono::seconds kLongTime{10};

int first_value(const Frame& frame) { return frame.bgr.at<cv::Vec3b>(0, 0)[0]; }

TEST(ReplaySource, BeginsAgainAfterTheLastFrame) {
  FakeSource source(false, frames(3));
  ReplaySource replay(record_frames(source, RecordLimits()), source.info());
  EXPECT_FALSE(replay.info().live);
  EXPECT_EQ(replay.info().description,
            "3 frames of a fake source, read beforehand and replayed as fast as they are taken");
  Frame frame;
  for (int i = 0; i < 7; ++i) {
    const auto before = Clock::now();
    ASSERT_EQ(replay.read(frame, kNoTime), ReadStatus::kFrame);
    EXPECT_EQ(first_value(frame), i % 3);
    EXPECT_GE(frame.captured, before);
  }
}

TEST(ReplaySource, ComesAtItsRate) {
  FakeSource source(false, frames(2));
  ReplaySource slow(record_frames(source, RecordLimits()), source.info(), 0.001);
  EXPECT_TRUE(slow.info().live);
  EXPECT_EQ(slow.info().fps, 0.001);
  EXPECT_EQ(slow.info().description,
            "2 frames of a fake source, read beforehand and replayed 0.001 times a second");
  Frame frame;
  ASSERT_EQ(slow.read(frame, kNoTime), ReadStatus::kFrame) << "the first one is due at once";
  EXPECT_EQ(slow.read(frame, kNoTime), ReadStatus::kTimeout);

  FakeSource again(false, frames(2));
  ReplaySource fast(record_frames(again, RecordLimits()), again.info(), 1000);
  ASSERT_EQ(fast.read(frame, kLongTime), ReadStatus::kFrame);
  const auto first = frame.captured;
  ASSERT_EQ(fast.read(frame, kLongTime), ReadStatus::kFrame);
  const auto apart = frame.captured - first;
  EXPECT_GE(apart, std::chrono::milliseconds(1));
  EXPECT_EQ(apart % std::chrono::milliseconds(1), Clock::duration::zero())
      << "captured when it was due, whenever it is read";
}

TEST(ReplaySource, TheReadersFrameIsItsOwn) {
  FakeSource source(false, frames(1));
  ReplaySource replay(record_frames(source, RecordLimits()), source.info());
  Frame frame;
  replay.read(frame, kNoTime);
  const auto* pixels = frame.bgr.data;
  frame.bgr.setTo(200);
  replay.read(frame, kNoTime);
  EXPECT_EQ(first_value(frame), 0) << "the recorded pixels are as they were";
  EXPECT_EQ(frame.bgr.data, pixels) << "memory is used again";
}

TEST(ReplaySource, RecordsWithinLimits) {
  FakeSource many(false, frames(100));
  EXPECT_EQ(record_frames(many, RecordLimits()).size(), RecordLimits().frames);
  constexpr std::size_t kFrameBytes = 8 * 8 * 3;
  FakeSource large(false, frames(100));
  const auto two = record_frames(large, {64, 2 * kFrameBytes});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_EQ(pixel_bytes(two), 2 * kFrameBytes);
  FakeSource huge(false, frames(100));
  EXPECT_EQ(record_frames(huge, {64, 1}).size(), 1U);
}

TEST(ReplaySource, WhatCannotBeReadIsLeftOut) {
  FakeSource source(false, [](int read, Frame& frame) {
    if (read == 4) return ReadStatus::kEnd;
    return read % 2 == 0 ? ReadStatus::kSkipped : fill(frame, read);
  });
  EXPECT_EQ(record_frames(source, RecordLimits()).size(), 2U);
  FakeSource nothing(false, frames(0));
  try {
    record_frames(nothing, RecordLimits());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNoInput);
    EXPECT_NE(std::string(error.what()).find("a fake source"), std::string::npos);
  }
}

}  // namespace
}  // namespace lookout

#include "platform/cameras/jpeg_thread.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <future>
#include <opencv2/core.hpp>
#include <string>
#include <thread>

#include "pipeline/core/error.h"
#include "platform/sources/test_pattern.h"
#include "tests/platform/cameras/fake_hint.h"
#include "tests/support/encoded_jpeg.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr int kFrames = 100;  // long after which an average has settled

// Frames that all take as long, `period` apart.
bool apart_after(DecodeLoad& load, milliseconds decoding, milliseconds period, int frames,
                 Clock::time_point& captured) {
  for (int i = 0; i < frames; ++i) load.add(decoding, captured += period);
  return load.apart();
}

TEST(DecodeLoad, MoreThanAThirdOfAFramesTimeIsTooMuch) {
  Clock::time_point captured;
  DecodeLoad load(/*fps=*/25);
  EXPECT_FALSE(load.apart());
  EXPECT_FALSE(apart_after(load, milliseconds(13), milliseconds(40), kFrames, captured));
  EXPECT_TRUE(apart_after(load, milliseconds(14), milliseconds(40), kFrames, captured));
}

TEST(DecodeLoad, OneSlowFrameIsNotYetTooMuch) {
  Clock::time_point captured;
  DecodeLoad load(/*fps=*/25);
  apart_after(load, milliseconds(5), milliseconds(40), kFrames, captured);
  EXPECT_FALSE(apart_after(load, milliseconds(40), milliseconds(40), 1, captured));
  EXPECT_TRUE(apart_after(load, milliseconds(40), milliseconds(40), 9, captured));
}

TEST(DecodeLoad, BetweenASixthAndAThirdItStaysWhereItIs) {
  Clock::time_point captured;
  DecodeLoad load(/*fps=*/25);
  EXPECT_FALSE(apart_after(load, milliseconds(10), milliseconds(40), kFrames, captured));
  EXPECT_TRUE(apart_after(load, milliseconds(20), milliseconds(40), kFrames, captured));
  EXPECT_TRUE(apart_after(load, milliseconds(7), milliseconds(40), kFrames, captured));
  EXPECT_FALSE(apart_after(load, milliseconds(6), milliseconds(40), kFrames, captured));
}

TEST(DecodeLoad, TimeBetweenFramesIsMeasuredWhereItIsUnknown) {
  Clock::time_point captured;
  DecodeLoad load(/*fps=*/0);
  EXPECT_FALSE(apart_after(load, milliseconds(14), milliseconds(100), kFrames, captured));
  EXPECT_TRUE(apart_after(load, milliseconds(14), milliseconds(40), kFrames, captured));
}

JpegJob job_of(int number) {
  cv::Mat bgr(48, 64, CV_8UC3);
  draw_pattern(Pattern::kColorBars, bgr);
  JpegJob job;
  job.picture.begin(CameraPicture::Kind::kJpeg, decode_camera_jpeg);
  job.picture.bytes = encoded(bgr);
  job.captured = Clock::time_point(milliseconds(number));
  return job;
}

// The number of the next job that is done.
int next(JpegThread& thread) {
  pollfd done{thread.done_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&done, 1, 10'000), 1);
  JpegJob job;
  if (!thread.take(job)) return -1;
  EXPECT_TRUE(job.size);
  EXPECT_TRUE(job.picture.has_reduced);
  return static_cast<int>(
      std::chrono::duration_cast<milliseconds>(job.captured.time_since_epoch()).count());
}

TEST(JpegThread, DecodesWhatIsPut) {
  JpegReader reader(nullptr);
  JpegThread thread(reader, Clock::now);
  JpegJob job;
  EXPECT_TRUE(thread.idle());
  EXPECT_FALSE(thread.take(job));
  for (int i = 0; i < 3; ++i) {
    job = job_of(i);
    thread.put(job);
    EXPECT_FALSE(thread.idle());
    EXPECT_EQ(next(thread), i);
    EXPECT_TRUE(thread.idle());
  }
  EXPECT_EQ(thread.dropped(), 0U);
}

TEST(JpegThread, DamagedJpegHasNoSize) {
  JpegReader reader(nullptr);
  JpegThread thread(reader, Clock::now);
  JpegJob job = job_of(0);
  job.picture.bytes.resize(job.picture.bytes.size() / 2);
  thread.put(job);
  pollfd done{thread.done_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&done, 1, 10'000), 1);
  ASSERT_TRUE(thread.take(job));
  EXPECT_FALSE(job.size);
  EXPECT_FALSE(job.error);
}

TEST(JpegThread, TheNewestWaitsAndTheOthersAreDroppedAndCounted) {
  std::promise<void> started;
  Gate gate;
  FakeHint hint([&](int look) {
    if (look > 0) return false;
    started.set_value();
    gate.wait();
    return false;
  });
  JpegReader reader(&hint);
  JpegThread thread(reader, Clock::now);
  JpegJob job = job_of(0);
  thread.put(job);
  started.get_future().wait();
  for (int i = 1; i <= 3; ++i) {
    job = job_of(i);
    thread.put(job);
  }
  EXPECT_EQ(thread.dropped(), 2U);
  EXPECT_FALSE(thread.idle());
  gate.open();
  int last = next(thread);
  if (last == 0) last = next(thread);  // else it was dropped for the last one, too
  EXPECT_EQ(last, 3);
  EXPECT_TRUE(thread.idle());
}

TEST(JpegThread, WhatDecodingThrowsComesWithTheJob) {
  FakeHint hint([](int) -> bool { throw Error(ErrorKind::kInternal, "no more memory"); });
  JpegReader reader(&hint);
  JpegThread thread(reader, Clock::now);
  JpegJob job = job_of(0);
  thread.put(job);
  pollfd done{thread.done_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&done, 1, 10'000), 1);
  ASSERT_TRUE(thread.take(job));
  EXPECT_THROW(std::rethrow_exception(job.error), Error);
}

TEST(JpegThread, HasANameAndAnOrdinaryPriority) {
  std::promise<int> policy;
  std::string name;
  std::atomic<bool> refused{false};
  std::thread caller([&] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0;
    if (refused) return;
    FakeHint hint([&](int) {
      std::array<char, 16> text{};
      pthread_getname_np(pthread_self(), text.data(), text.size());
      name = text.data();
      policy.set_value(sched_getscheduler(0));
      return false;
    });
    JpegReader reader(&hint);
    JpegThread thread(reader, Clock::now);
    JpegJob job = job_of(0);
    thread.put(job);
    EXPECT_EQ(next(thread), 0);
  });
  caller.join();
  if (refused) GTEST_SKIP() << "no permission for a real-time priority";
  EXPECT_EQ(policy.get_future().get(), SCHED_OTHER);
  EXPECT_EQ(name, "jpeg");
}

}  // namespace
}  // namespace lookout

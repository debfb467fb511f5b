// Which frames are classified, in virtual time.
#include "pipeline/run/classification_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr double kNtsc = 30 / 1.001;  // frames a second

nanoseconds from_seconds(double value) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(value));
}

double to_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// The times of a camera's frames, each early or late by at most `jitter`.
std::vector<nanoseconds> camera(double fps, seconds length, nanoseconds jitter = {}) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> offset(-to_seconds(jitter), to_seconds(jitter));
  std::vector<nanoseconds> times;
  const auto count = static_cast<int>(fps * static_cast<double>(length.count()));
  times.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) times.push_back(from_seconds(i / fps + offset(random) + 1));
  return times;
}

std::vector<nanoseconds> wanted(ClassificationRate& rate, const std::vector<nanoseconds>& frames) {
  std::vector<nanoseconds> times;
  for (const nanoseconds time : frames) {
    if (rate.wanted(time)) times.push_back(time);
  }
  return times;
}

// The time between wanted frames differs from 1/rate by at most `tolerance`, and nothing adds up.
void expect_even(const std::vector<nanoseconds>& times, double rate, nanoseconds tolerance) {
  ASSERT_GE(times.size(), 2U);
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double interval = to_seconds(times[i] - times[i - 1]);
    ASSERT_NEAR(interval, 1 / rate, to_seconds(tolerance)) << "frame " << i << ", rate " << rate;
    const double since_start = to_seconds(times[i] - times.front());
    ASSERT_NEAR(since_start, static_cast<double>(i) / rate, to_seconds(tolerance))
        << "frame " << i << ", rate " << rate;
  }
}

TEST(ClassificationRate, WithoutARateEveryFrameIsWanted) {
  ClassificationRate rate;
  const auto frames = camera(kNtsc, seconds(10), milliseconds(20));
  EXPECT_EQ(wanted(rate, frames), frames);
}

TEST(ClassificationRate, FramesAreEvenlySpacedWithoutDrift) {
  constexpr seconds kLength{600};
  const nanoseconds frame = from_seconds(1 / kNtsc);
  for (const double per_second : {0.5, 1.0, 7.0, 10.0, 12.5, 15.0, 29.0}) {
    for (const milliseconds jitter : {milliseconds(0), milliseconds(5)}) {
      ClassificationRate rate(per_second);
      const auto times = wanted(rate, camera(kNtsc, kLength, jitter));
      EXPECT_NEAR(static_cast<double>(times.size()), per_second * 600, 1.5) << per_second;
      expect_even(times, per_second, frame + 3 * jitter);
    }
  }
}

// The camera's clock differs a little from ours: the nominal rate of a camera leaves none out.
TEST(ClassificationRate, ACameraThatIsNotFasterThanTheRateLosesNoFrame) {
  for (const double per_second : {30.0, 60.0, 1000.0}) {
    for (const milliseconds jitter : {milliseconds(0), milliseconds(7)}) {
      ClassificationRate rate(per_second);
      const auto frames = camera(kNtsc, seconds(600), jitter);
      EXPECT_EQ(wanted(rate, frames).size(), frames.size()) << per_second;
    }
  }
}

// A third of the frames, always the same third, though each comes a little early or late.
TEST(ClassificationRate, JitterChangesNoChoice) {
  ClassificationRate rate(10);
  const auto frames = camera(30, seconds(100), milliseconds(8));
  const auto times = wanted(rate, frames);
  for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], frames[3 * i]) << i;
}

TEST(ClassificationRate, AFastCameraIsBoundByTheRate) {
  ClassificationRate rate(30);
  const auto times = wanted(rate, camera(120, seconds(100), milliseconds(2)));
  EXPECT_NEAR(static_cast<double>(times.size()), 3000, 1.5);
}

TEST(ClassificationRate, APauseIsNotMadeUpFor) {
  ClassificationRate rate(10);
  auto frames = camera(kNtsc, seconds(20));
  for (auto& time : frames) {
    if (time > seconds(10)) time += milliseconds(5432);
  }
  const auto times = wanted(rate, frames);
  const nanoseconds frame = from_seconds(1 / kNtsc);
  std::size_t pauses = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const nanoseconds interval = times[i] - times[i - 1];
    EXPECT_GE(interval, milliseconds(100) - frame);
    if (interval > seconds(1)) ++pauses;
  }
  EXPECT_EQ(pauses, 1U);
  EXPECT_EQ(std::count(times.begin(), times.end(),
                       *std::find_if(frames.begin(), frames.end(),
                                     [](nanoseconds time) { return time > seconds(15); })),
            1)
      << "the first frame after the pause";
}

TEST(ClassificationRate, ACameraThatPausesAtTheStartIsStillBound) {
  ClassificationRate rate(10);
  std::vector<nanoseconds> frames{nanoseconds(0)};
  for (const nanoseconds time : camera(kNtsc, seconds(10))) frames.push_back(time + seconds(3));
  EXPECT_LE(wanted(rate, frames).size(), 102U);
}

// A camera in the dark delivers 5 frames a second, and 30 again when there is light.
TEST(ClassificationRate, ACameraThatChangesItsRateIsStillBound) {
  ClassificationRate rate(10);
  std::vector<nanoseconds> frames = camera(5, seconds(20));
  const nanoseconds light = frames.back();
  for (const nanoseconds time : camera(kNtsc, seconds(20))) frames.push_back(light + time);
  const auto times = wanted(rate, frames);
  const auto in_light =
      std::count_if(times.begin(), times.end(), [light](nanoseconds time) { return time > light; });
  EXPECT_NEAR(static_cast<double>(in_light), 200, 2.5);
  EXPECT_EQ(static_cast<long>(times.size()) - in_light, 100);
}

TEST(ClassificationRate, ARateThatChangesIsKeptFromThenOn) {
  ClassificationRate rate(3.3);
  double due = 0;
  std::size_t count = 0;
  int second = -1;
  constexpr double kRates[] = {3.3, 8.7, 21, 1.1, 14.2};
  for (const nanoseconds time : camera(kNtsc, seconds(500), milliseconds(3))) {
    const int now = static_cast<int>(to_seconds(time));
    if (now != second) {
      second = now;
      rate.set(kRates[second % 5]);
      due += kRates[second % 5];
    }
    if (rate.wanted(time)) ++count;
  }
  EXPECT_NEAR(static_cast<double>(count), due, 0.02 * due);
}

TEST(ClassificationRate, AChangeTakesEffectAtOnce) {
  ClassificationRate rate(0.01);
  EXPECT_TRUE(rate.wanted(seconds(0)));
  EXPECT_FALSE(rate.wanted(seconds(1)));
  rate.set(0.5);
  EXPECT_TRUE(rate.wanted(seconds(2)));
  rate.set(std::nullopt);
  EXPECT_TRUE(rate.wanted(seconds(2) + milliseconds(1)));
  rate.set(0.01);
  EXPECT_FALSE(rate.wanted(seconds(52)));
  EXPECT_TRUE(rate.wanted(seconds(103)));
}

// A video that is shown again begins at 0.
TEST(ClassificationRate, ATimeThatGoesBackBeginsAnew) {
  ClassificationRate rate(1);
  EXPECT_TRUE(rate.wanted(seconds(100)));
  EXPECT_FALSE(rate.wanted(seconds(100) + milliseconds(500)));
  EXPECT_TRUE(rate.wanted(seconds(0)));
  EXPECT_FALSE(rate.wanted(milliseconds(40)));
  EXPECT_TRUE(rate.wanted(milliseconds(1010)));
}

TEST(ClassificationRate, FramesOfTheSameTimeAreOneToIt) {
  ClassificationRate rate(10);
  EXPECT_TRUE(rate.wanted(seconds(1)));
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(rate.wanted(seconds(1)));
}

}  // namespace
}  // namespace lookout

#include "platform/cameras/frame_time.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using namespace std::chrono_literals;

// Asleep for an hour since the start.
const ClockPair kNow{Clock::time_point(1000s), 4600s};

TEST(FrameTime, AStampOfAMomentAgoIsTaken) {
  const Clock::time_point now(1000s);
  EXPECT_EQ(frame_time(now - 20ms, now), now - 20ms);
  EXPECT_EQ(frame_time(now - 9s, now), now - 9s);
  EXPECT_EQ(frame_time(now, now), now);
}

TEST(FrameTime, AStampOfLongAgoOrOfTheFutureIsNow) {
  const Clock::time_point now(1000s);
  for (const auto& stamp : {now - 11s, now + 1ms, now + 5s, now + 11s, Clock::time_point()}) {
    EXPECT_EQ(frame_time(stamp, now), now);
  }
}

TEST(FrameTime, AStampOfTheFutureIsNow) {
  EXPECT_EQ(sensor_frame_time(4600s + 20ms, kNow), kNow.monotonic);
}

TEST(FrameTime, BoottimeBecomesMonotonic) {
  EXPECT_EQ(sensor_frame_time(4600s - 20ms, kNow), kNow.monotonic - 20ms);
}

TEST(FrameTime, AStampThatIsMonotonicAlreadyIsTaken) {
  EXPECT_EQ(sensor_frame_time(1000s - 20ms, kNow), kNow.monotonic - 20ms);
}

TEST(FrameTime, OfAnyOtherClockItIsNow) {
  EXPECT_EQ(sensor_frame_time(0s, kNow), kNow.monotonic);
  EXPECT_EQ(sensor_frame_time(1'795'262'400s, kNow), kNow.monotonic);
}

TEST(FrameTime, TheClocksAreReadTogether) {
  const ClockPair now = read_clocks();
  EXPECT_GE(now.boottime, now.monotonic.time_since_epoch() - 1s);
  EXPECT_LE(now.monotonic, Clock::now());
}

}  // namespace
}  // namespace lookout

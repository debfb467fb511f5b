#include "platform/cameras/sensor_time.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using namespace std::chrono_literals;

// Asleep for an hour since the start.
const ClockPair kNow{Clock::time_point(1000s), 4600s};

TEST(SensorTime, BoottimeBecomesMonotonic) {
  EXPECT_EQ(time_of_sensor(4600s - 20ms, kNow), kNow.monotonic - 20ms);
}

TEST(SensorTime, AStampThatIsMonotonicAlreadyIsTaken) {
  EXPECT_EQ(time_of_sensor(1000s - 20ms, kNow), kNow.monotonic - 20ms);
}

TEST(SensorTime, OfAnyOtherClockItIsNow) {
  EXPECT_EQ(time_of_sensor(0s, kNow), kNow.monotonic);
  EXPECT_EQ(time_of_sensor(1'795'262'400s, kNow), kNow.monotonic);
}

TEST(SensorTime, TheClocksAreReadTogether) {
  const ClockPair now = read_clocks();
  EXPECT_GE(now.boottime, now.monotonic.time_since_epoch() - 1s);
  EXPECT_LE(now.monotonic, Clock::now());
}

}  // namespace
}  // namespace lookout

#include "platform/cameras/reconnecting_source.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RateWatchTest : public testing::Test {
 protected:
  // Feeds frames for that long. Returns the rate that was noticed, or 0.
  double watch(seconds duration, milliseconds period, double expected) {
    double noticed = 0;
    for (const auto end = now_ + duration; now_ < end; now_ += period) {
      if (const auto rate = watch_.frame(now_, expected)) noticed = *rate;
    }
    return noticed;
  }

  RateWatch watch_;
  Clock::time_point now_{};
};

TEST_F(RateWatchTest, ACameraThatKeepsItsPromiseIsLeftAlone) {
  EXPECT_EQ(watch(seconds(60), milliseconds(33), 30), 0);
  EXPECT_EQ(watch(seconds(60), milliseconds(36), 30), 0) << "nearly";
  EXPECT_EQ(watch(seconds(60), milliseconds(200), 0), 0) << "nothing was promised";
}

TEST_F(RateWatchTest, ASlowCameraIsNoticedOnce) {
  EXPECT_NEAR(watch(seconds(15), milliseconds(100), 30), 10, 0.1);
  watch_.restart();
  EXPECT_EQ(watch(seconds(60), milliseconds(100), 30), 0);
}

TEST_F(RateWatchTest, IsNoticedWhenItGetsDark) {
  EXPECT_EQ(watch(seconds(60), milliseconds(33), 30), 0);
  EXPECT_NEAR(watch(seconds(20), milliseconds(66), 30), 15, 1);
}

TEST_F(RateWatchTest, ABadStartAndASinglePauseAreForgiven) {
  EXPECT_EQ(watch(seconds(2), milliseconds(500), 30), 0);
  EXPECT_EQ(watch(seconds(20), milliseconds(33), 30), 0);
  now_ += seconds(20);
  EXPECT_EQ(watch(seconds(20), milliseconds(33), 30), 0);
}

TEST_F(RateWatchTest, TheTimeThatItWasAwayDoesNotCount) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(watch(seconds(20), milliseconds(33), 30), 0);
    now_ += seconds(100);
    watch_.restart();
  }
}

}  // namespace
}  // namespace lookout

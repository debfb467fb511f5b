#include "platform/teach/time_left.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace lookout {
namespace {

using Seconds = std::chrono::duration<double>;

class TimeLeftTest : public testing::Test {
 protected:
  void note(double done, double seconds) { left_.note(done, at(seconds)); }
  // -1: nothing.
  long left(double seconds) const {
    const auto left = left_.at(at(seconds));
    return left ? left->count() : -1;
  }

  TimeLeft left_;

 private:
  static TimeLeft::Clock::time_point at(double seconds) {
    return TimeLeft::Clock::time_point(
        std::chrono::round<TimeLeft::Clock::duration>(Seconds(1000 + seconds)));
  }
};

TEST_F(TimeLeftTest, IsNotToldBeforeEnoughWasDone) {
  EXPECT_EQ(left(0), -1);
  note(0, 0);
  note(0.04, 4);
  EXPECT_EQ(left(4), -1) << "too little";
  note(0.1, 10);
  EXPECT_EQ(left(10), 90);
  left_ = {};
  note(0, 0);
  note(0.5, 0.9);
  EXPECT_EQ(left(0.9), -1) << "too soon";
}

TEST_F(TimeLeftTest, AStartDoesNotCount) {
  note(0, 0);
  note(0, 30);
  note(0.25, 35);
  EXPECT_EQ(left(35), 15);
}

TEST_F(TimeLeftTest, CountsDownUntilTheNextNoteIsDue) {
  note(0, 0);
  for (int i = 1; i <= 10; ++i) note(i / 20.0, 2.0 * i);
  EXPECT_EQ(left(20), 20);
  EXPECT_EQ(left(21), 19);
  EXPECT_EQ(left(22), 18);
  EXPECT_EQ(left(24), 20) << "what comes next is late, and so is all of it";
  EXPECT_EQ(left(25), 21);
  EXPECT_EQ(left(46), -1) << "it should have ended";
  note(0.55, 26);
  EXPECT_EQ(left(26), 22) << "as it was told just before";
}

TEST_F(TimeLeftTest, IsASecondAtLeast) {
  note(0, 0);
  note(0.999, 10);
  EXPECT_EQ(left(10), 1);
  EXPECT_EQ(left(14), 1);
  note(1, 14);
  EXPECT_EQ(left(14), 1);
  EXPECT_EQ(left(20), -1);
}

// As on a machine that has other things to do now and then.
TEST_F(TimeLeftTest, DoesNotJumpWhenSomethingStops) {
  note(0, 0);
  double time = 0;
  long before = -1;
  for (int i = 1; i < 100; ++i) {
    for (const double end = time + (i % 10 == 0 ? 8 : 1); time < end; time += 0.5) {
      const long now = left(time);
      if (before > 0 && i > 20) {
        EXPECT_LE(std::labs(now - before), 4) << i;
      }
      before = now;
    }
    note(i / 100.0, time);
  }
}

// As when pictures are quick to look at, and each of the other steps takes five times as long.
TEST_F(TimeLeftTest, DoesNotJumpWhenTheRateChanges) {
  double time = 0;
  note(0, time);
  long before = -1;
  for (int i = 1; i < 100; ++i) {
    time += i <= 50 ? 0.2 : 1;
    note(i / 100.0, time);
    const long now = left(time);
    if (before > 0) {
      EXPECT_LE(std::labs(now - before), 2) << i;
    }
    before = now;
  }
}

}  // namespace
}  // namespace lookout

#include "platform/system/wall_moment.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(WallMoment, FollowsAClockThatIsSetAndNotOneThatIsSlewed) {
  const WallMoment::Time start{hours(24 * 365 * 50)};
  const WallMoment moment(start + seconds(40), start);
  EXPECT_EQ(moment.told(start), start + seconds(40));
  EXPECT_EQ(moment.told(start + milliseconds(999)), start + seconds(40));
  EXPECT_EQ(moment.told(start + hours(240)), start + hours(240) + seconds(40));
  EXPECT_EQ(moment.told(start - hours(1)), start - hours(1) + seconds(40));
}

TEST(WallMoment, IsItselfWhileTheClockIsNotSet) {
  const auto now = std::chrono::system_clock::now();
  EXPECT_EQ(WallMoment(now).told(), now);
}

}  // namespace
}  // namespace lookout

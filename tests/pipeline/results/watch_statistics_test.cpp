#include "pipeline/results/watch_statistics.h"

#include <gtest/gtest.h>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result result_of_age(milliseconds age, bool reused = false) {
  Result result;
  result.frame_age = age;
  result.reused = reused;
  return result;
}

TEST(WatchStatistics, CountsResultsOfAnIntervalAndOfTheRun) {
  const Clock::time_point start{};
  WatchStatistics statistics(start);
  for (int i = 0; i < 4; ++i) {
    statistics.record(result_of_age(milliseconds(50), i > 0), start + milliseconds(500 * i));
  }
  const WatchStats first = statistics.interval(start + seconds(2));
  EXPECT_DOUBLE_EQ(first.fps, 2);
  EXPECT_DOUBLE_EQ(first.computed_fps, 0.5);
  const WatchStats second = statistics.interval(start + seconds(3));
  EXPECT_DOUBLE_EQ(second.fps, 0);
  statistics.record(result_of_age(milliseconds(50)), start + milliseconds(3500));
  const WatchStats total = statistics.total(start + seconds(5));
  EXPECT_DOUBLE_EQ(total.fps, 1);
  EXPECT_DOUBLE_EQ(total.computed_fps, 0.4);
}

// A watch has its last result until the next one comes.
TEST(WatchStatistics, AResultAgesUntilTheNextOne) {
  const Clock::time_point start{};
  WatchStatistics statistics(start);
  EXPECT_FALSE(statistics.interval(start + seconds(1)).oldest);
  statistics.record(result_of_age(milliseconds(40)), start + milliseconds(1100));
  statistics.record(result_of_age(milliseconds(40)), start + milliseconds(1800));
  EXPECT_EQ(statistics.interval(start + seconds(2)).oldest, milliseconds(740));
  EXPECT_EQ(statistics.interval(start + seconds(3)).oldest, milliseconds(1240))
      << "no result came, and the one there was grew older";
  statistics.forget();
  EXPECT_FALSE(statistics.interval(start + seconds(9)).oldest) << "the camera was away";
  EXPECT_EQ(statistics.total(start + seconds(10)).oldest, milliseconds(1240));
}

}  // namespace
}  // namespace lookout

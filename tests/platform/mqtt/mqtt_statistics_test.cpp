#include "platform/mqtt/mqtt_reporter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pipeline/results/statistics.h"
#include "tests/platform/mqtt/mqtt_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class MqttStatisticsTest : public testing::Test {
 protected:
  std::optional<StatsSnapshot> tick(Clock::duration after) {
    clock_.advance(after);
    StatsSnapshot stats;
    stats.interval = after;
    stats.captured = captured_;
    stats.classified = captured_;
    stats.machine.temperature = 50;
    return statistics_.tick(stats, clock_.now());
  }
  void classify(milliseconds age) {
    ++captured_;
    Result result = result_with(0, 0.9F);
    result.frame_age = age;
    statistics_.record(result);
  }

  TestClock clock_;
  MqttStatistics statistics_{seconds(10), clock_.now()};
  std::uint64_t captured_ = 0;
};

TEST_F(MqttStatisticsTest, CoverTheirWholeInterval) {
  ASSERT_TRUE(tick(seconds(1)));
  for (int second = 1; second <= 9; ++second) {
    classify(milliseconds(100 * second));
    EXPECT_FALSE(tick(seconds(1)));
  }
  const auto stats = tick(seconds(1));  // in which nothing was classified
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->interval, seconds(10));
  EXPECT_DOUBLE_EQ(stats->classified_fps, 0.9);
  EXPECT_DOUBLE_EQ(stats->camera_fps, 0.9);
  EXPECT_EQ(stats->classified, 9U);
  EXPECT_EQ(stats->frame_age.max, milliseconds(900));
  EXPECT_EQ(stats->machine.temperature, 50);
}

TEST_F(MqttStatisticsTest, ATickThatIsALittleEarlyCounts) {
  ASSERT_TRUE(tick(seconds(10)));
  EXPECT_TRUE(tick(milliseconds(9999)));
  EXPECT_TRUE(tick(seconds(60)));
}

// The third watch looks where the second one does.
TEST_F(MqttStatisticsTest, CountAFrameOfSeveralWatchesOnce) {
  ASSERT_TRUE(tick(seconds(10)));
  for (int frame = 1; frame <= 4; ++frame) {
    ++captured_;
    for (const char* name : {"gate", "lamp", "glow"}) {
      Result result = result_with(0, 0.9F);
      const double x = name == std::string("gate") ? 0 : 0.5;
      result.watch = std::make_shared<WatchInfo>(WatchInfo{name, {x, 0, 0.5, 1}});
      result.sequence = static_cast<std::uint64_t>(frame);
      result.durations.capture = milliseconds(5);
      result.durations.inference = milliseconds(20);
      result.durations.total = milliseconds(25);
      statistics_.record(result);
    }
  }
  const auto stats = tick(seconds(10));
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->classified, 4U);
  EXPECT_DOUBLE_EQ(stats->classified_fps, 0.4);
  EXPECT_EQ(stats->inference.max, milliseconds(40));
  EXPECT_EQ(stats->total.max, milliseconds(45));
}

TEST_F(MqttStatisticsTest, AFrameThatIsNotDoneCountsWhenItIs) {
  Result result = result_with(0, 0.9F);
  result.watch = std::make_shared<WatchInfo>(WatchInfo{"gate", {0, 0, 0.5, 1}});
  statistics_.record(result);
  EXPECT_EQ(tick(seconds(10))->classified, 0U) << "nor has the run counted it";
  result.watch = std::make_shared<WatchInfo>(WatchInfo{"lamp", {0.5, 0, 0.5, 1}});
  statistics_.record(result);
  ++captured_;
  EXPECT_EQ(tick(seconds(10))->classified, 1U);
}

}  // namespace
}  // namespace lookout

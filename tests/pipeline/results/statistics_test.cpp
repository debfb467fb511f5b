#include "pipeline/results/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lookout {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

double us(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

TEST(LatencyHistogram, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentiles().p50.count(), 0);
  EXPECT_EQ(histogram.percentiles().max.count(), 0);
}

TEST(LatencyHistogram, PercentilesAreWithinASixtyFourthOfTheNearestRank) {
  LatencyHistogram histogram;
  std::mt19937 random(1);
  std::lognormal_distribution<double> distribution(9, 2);  // around 8 ms, up to seconds
  std::vector<double> values;
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(std::floor(distribution(random)));
    histogram.record(microseconds(static_cast<std::int64_t>(values.back())));
  }
  std::sort(values.begin(), values.end());
  const Percentiles p = histogram.percentiles();
  EXPECT_NEAR(us(p.p50), values[4999], values[4999] / 64 + 1);
  EXPECT_NEAR(us(p.p95), values[9499], values[9499] / 64 + 1);
  EXPECT_NEAR(us(p.p99), values[9899], values[9899] / 64 + 1);
  EXPECT_EQ(us(p.max), values.back());
}

TEST(LatencyHistogram, IsExactForSmallValuesAndFewOfThem) {
  LatencyHistogram histogram;
  for (const int value : {100, 1, 127}) histogram.record(microseconds(value));
  EXPECT_EQ(histogram.percentiles().p50, microseconds(100)) << "of three the middle one";
  EXPECT_EQ(histogram.percentiles().p95, microseconds(127));
}

TEST(LatencyHistogram, TakesTheExtremes) {
  LatencyHistogram histogram;
  histogram.record(milliseconds(-5));
  EXPECT_EQ(histogram.percentiles().p50.count(), 0);
  histogram.record(std::chrono::hours(5));
  EXPECT_EQ(histogram.percentiles().p50.count(), 0) << "both count";
  EXPECT_EQ(histogram.percentiles().max, std::chrono::hours(5));
}

TEST(LatencyHistogram, AddsUp) {
  LatencyHistogram one;
  LatencyHistogram two;
  one.record(milliseconds(1));
  two.record(milliseconds(3));
  one.add(two);
  EXPECT_NEAR(us(one.percentiles().p50), 1000, 1000.0 / 64 + 1) << "both count";
  EXPECT_EQ(one.percentiles().max, milliseconds(3));
}

Result result_of(milliseconds inference) {
  Result result;
  result.durations.inference = inference;
  return result;
}

TEST(Statistics, RatesAreThoseOfTheInterval) {
  const Clock::time_point start{};
  Statistics statistics(start);
  for (int i = 0; i < 20; ++i) statistics.record(result_of(milliseconds(10)));
  const StatsSnapshot first = statistics.interval({30, 10, 1}, start + seconds(2));
  EXPECT_DOUBLE_EQ(first.camera_fps, 15);
  EXPECT_DOUBLE_EQ(first.classified_fps, 10);
  EXPECT_EQ(first.dropped, 10U);
  EXPECT_EQ(first.skipped, 1U);
  EXPECT_EQ(first.in_flight, 0U);
  EXPECT_FALSE(first.final);

  statistics.record(result_of(milliseconds(50)));
  const StatsSnapshot second = statistics.interval({32, 10, 1}, start + seconds(3));
  EXPECT_DOUBLE_EQ(second.camera_fps, 2);
  EXPECT_DOUBLE_EQ(second.classified_fps, 1);
  EXPECT_EQ(second.in_flight, 1U);
  EXPECT_EQ(second.inference.p50, milliseconds(50)) << "only this interval's frame counts";
}

TEST(Statistics, TheTotalSpansAllIntervals) {
  const Clock::time_point start{};
  Statistics statistics(start);
  for (int i = 0; i < 98; ++i) statistics.record(result_of(milliseconds(10)));
  statistics.interval({98, 0, 0}, start + seconds(1));
  statistics.record(result_of(milliseconds(30)));
  statistics.record(result_of(milliseconds(40)));
  const StatsSnapshot total = statistics.total({100, 0, 0}, start + seconds(10));
  EXPECT_TRUE(total.final);
  EXPECT_DOUBLE_EQ(total.classified_fps, 10);
  EXPECT_NEAR(us(total.inference.p50), 10'000, 10'000.0 / 64);
  EXPECT_NEAR(us(total.inference.p99), 30'000, 30'000.0 / 64);
  EXPECT_EQ(total.inference.max, milliseconds(40));
}

// Different for each stage, and a multiple of `unit`.
Result result_in_units(milliseconds unit) {
  Result result;
  result.frame_age = 5 * unit;
  result.durations = {1 * unit, 2 * unit, 3 * unit, 4 * unit};
  return result;
}

void expect_units(const StatsSnapshot& stats, milliseconds unit) {
  EXPECT_EQ(stats.capture.max, 1 * unit);
  EXPECT_EQ(stats.preprocess.max, 2 * unit);
  EXPECT_EQ(stats.inference.max, 3 * unit);
  EXPECT_EQ(stats.total.max, 4 * unit);
  EXPECT_EQ(stats.frame_age.max, 5 * unit);
}

TEST(Statistics, EachStageHasItsOwnTimesInIntervalsAndTotal) {
  const Clock::time_point start{};
  Statistics statistics(start);
  statistics.record(result_in_units(milliseconds(20)));
  expect_units(statistics.interval({1, 0, 0}, start + seconds(1)), milliseconds(20));
  statistics.record(result_in_units(milliseconds(10)));
  expect_units(statistics.total({2, 0, 0}, start + seconds(2)), milliseconds(20));
  expect_units(statistics.interval({2, 0, 0}, start + seconds(2)), milliseconds(10));
  statistics.record(result_in_units(milliseconds(30)));
  expect_units(statistics.total({3, 0, 0}, start + seconds(3)), milliseconds(30));
  EXPECT_EQ(statistics.classified(), 3U);
}

TEST(Statistics, AnIntervalWithoutFramesIsZero) {
  const Clock::time_point start{};
  Statistics statistics(start);
  const StatsSnapshot stats = statistics.interval({}, start + seconds(1));
  EXPECT_EQ(stats.camera_fps, 0);
  EXPECT_EQ(stats.total.max.count(), 0);
}

}  // namespace
}  // namespace lookout

#include "pipeline/run/watch_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

constexpr milliseconds kFrame{40};  // 25 frames a second
constexpr int kSecond = 25;         // frames

// What becomes of so many frames in which the `changing` regions change all the time.
struct Simulation {
  WatchScheduler scheduler;
  std::vector<std::size_t> changing;
  std::vector<int> classifications{};  // of each region
  std::vector<milliseconds> oldest{};  // the age that a result had at most
  std::size_t most_of_a_frame = 0;
  int frame = 0;

  void run(int frames) {
    const std::size_t regions = scheduler.regions();
    classifications.assign(regions, 0);
    oldest.assign(regions, milliseconds(0));
    std::vector<milliseconds> last(regions, frame * kFrame);
    for (const int end = frame + frames; frame < end; ++frame) {
      const milliseconds time = frame * kFrame;
      for (std::size_t i = 0; i < regions; ++i) oldest[i] = std::max(oldest[i], time - last[i]);
      if (!scheduler.wanted(time)) continue;
      std::vector<std::size_t> due;
      for (std::size_t i = 0; i < regions; ++i) {
        const bool changes = std::count(changing.begin(), changing.end(), i) > 0;
        if (changes || scheduler.is_due(i, time)) due.push_back(i);
      }
      scheduler.choose(due);
      most_of_a_frame = std::max(most_of_a_frame, due.size());
      for (const std::size_t region : due) {
        scheduler.classified(region, time);
        ++classifications[region];
        last[region] = time;
      }
    }
  }
};

Simulation simulate(std::size_t regions, std::optional<double> rate,
                    std::vector<std::size_t> changing, milliseconds every = seconds(1)) {
  return {{std::vector<milliseconds>(regions, every), rate}, std::move(changing)};
}

TEST(WatchScheduler, WhatDoesNotChangeIsClassifiedWhenItsTimeIsOver) {
  Simulation run{{{seconds(1), seconds(2), milliseconds(400)}, std::nullopt}, {}};
  run.run(20 * kSecond);
  EXPECT_THAT(run.classifications, ElementsAre(20, 10, 50));
}

TEST(WatchScheduler, WithoutARateAllThatIsDueIsClassifiedInTheSameFrame) {
  Simulation run = simulate(4, std::nullopt, {0, 1, 2, 3});
  run.run(kSecond);
  EXPECT_THAT(run.classifications, Each(kSecond));
}

TEST(WatchScheduler, TheOldestResultComesFirst) {
  WatchScheduler scheduler({seconds(1), seconds(1), seconds(1)}, std::nullopt);
  scheduler.classified(1, seconds(1));
  scheduler.classified(0, seconds(2));
  std::vector<std::size_t> due{0, 1, 2};
  scheduler.choose(due);
  EXPECT_THAT(due, ElementsAre(2, 1, 0)) << "the one without a result, then by age";
  scheduler.classified(2, seconds(3));
  scheduler.forget();
  scheduler.choose(due);
  EXPECT_THAT(due, ElementsAre(0, 1, 2));
}

TEST(WatchScheduler, ARateIsSharedAndNoneStarves) {
  Simulation run = simulate(4, 2, {0, 1, 2, 3});
  run.run(60 * kSecond);
  EXPECT_THAT(run.classifications, Each(30)) << "2 a second for a minute, a quarter for each";
  EXPECT_THAT(run.oldest, Each(testing::Le(seconds(2) + 2 * kFrame)));
  EXPECT_EQ(run.most_of_a_frame, 1U);
}

TEST(WatchScheduler, RegionsThatDoNotChangeGetTheirTurnAmongThoseThatAlwaysDo) {
  Simulation run = simulate(4, 2, {0, 1}, seconds(4));
  run.run(60 * kSecond);
  EXPECT_THAT(run.classifications, Each(Ge(14)));
  EXPECT_EQ(run.classifications[0] + run.classifications[1] + run.classifications[2] +
                run.classifications[3],
            120);
}

TEST(WatchScheduler, ARateAboveTheCamerasAllowsSeveralRegionsOfAFrame) {
  Simulation run = simulate(4, 60, {0, 1, 2, 3});
  run.run(60 * kSecond);
  EXPECT_THAT(run.classifications, Each(testing::AllOf(Ge(890), testing::Le(901))))
      << "60 a second for a minute, a quarter for each";
  EXPECT_EQ(run.most_of_a_frame, 3U) << "2.4 of each frame";
}

TEST(WatchScheduler, ARateThatWasNotUsedIsNotMadeUpFor) {
  Simulation run = simulate(4, 2, {}, seconds(3600));
  run.run(10 * kSecond);
  EXPECT_THAT(run.classifications, Each(1)) << "the first results";
  run.changing = {0, 1, 2, 3};
  run.run(10 * kSecond);
  EXPECT_THAT(run.classifications, Each(5));
  EXPECT_EQ(run.most_of_a_frame, 1U);
}

TEST(WatchScheduler, OneRegionTakesTheFramesOfTheRate) {
  Simulation run = simulate(1, 10, {0});
  run.run(10 * kSecond);
  EXPECT_THAT(run.classifications, ElementsAre(100));
  run.scheduler.set_rate(5);
  run.run(10 * kSecond);
  EXPECT_THAT(run.classifications, ElementsAre(50));
  run.scheduler.set_rate(std::nullopt);
  run.run(10 * kSecond);
  EXPECT_THAT(run.classifications, ElementsAre(10 * kSecond));
}

TEST(WatchScheduler, ATimeThatGoesBackBeginsAnew) {
  WatchScheduler scheduler({seconds(1)}, std::nullopt);
  scheduler.classified(0, seconds(100));
  EXPECT_FALSE(scheduler.is_due(0, seconds(100)));
  EXPECT_TRUE(scheduler.is_due(0, seconds(1))) << "another video";
}

}  // namespace
}  // namespace lookout

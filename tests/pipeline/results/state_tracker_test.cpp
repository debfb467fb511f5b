#include "pipeline/results/state_tracker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/support/model_testing.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

const ModelInfoPtr kAnimals = model_with({"cat", "dog", "bird"});

// Feeds a tracker and records its states.
class StateTrackerTest : public testing::Test {
 protected:
  static StateOptions options(milliseconds smoothing, float enter, float leave,
                              milliseconds min_duration) {
    return {smoothing, enter, leave, min_duration};
  }

  // The state's name after a frame with these scores, with a '*' when it changed.
  static std::string feed(StateTracker& tracker, milliseconds at, const std::vector<float>& scores,
                          const ModelInfoPtr& model = kAnimals) {
    const bool changed = tracker.update(scores, model, Clock::time_point(at));
    return std::string(tracker.state().name()) + (changed ? "*" : "");
  }
};

TEST_F(StateTrackerTest, ByDefaultIsTheBestClassOfEachFrame) {
  StateTracker tracker({});
  EXPECT_EQ(tracker.state().kind, SceneState::Kind::kNone);
  EXPECT_EQ(tracker.state().name(), "");
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.4F, 0.35F, 0.25F}), "cat*");
  EXPECT_EQ(tracker.previous().kind, SceneState::Kind::kNone);
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.4F, 0.35F, 0.25F}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(2), {0.35F, 0.4F, 0.25F}), "dog*");
  EXPECT_EQ(tracker.previous().name(), "cat");
  EXPECT_EQ(tracker.state().prediction.index, 1U);
  EXPECT_FLOAT_EQ(tracker.state().prediction.score, 0.4F);
  EXPECT_EQ(feed(tracker, milliseconds(3), {0.4F, 0.4F, 0.2F}), "cat*") << "of equals the first";
}

TEST_F(StateTrackerTest, NothingAboveTheThresholdIsUnknown) {
  StateTracker tracker(options({}, 0.5F, 0.5F, {}));
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.4F, 0.35F, 0.25F}), "unknown*");
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.4F, 0.25F, 0.35F}), "unknown");
  EXPECT_EQ(feed(tracker, milliseconds(2), {0.5F, 0.25F, 0.25F}), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(3), {0.49F, 0.26F, 0.25F}), "unknown*");
}

TEST_F(StateTrackerTest, ALowerThresholdToLeaveHoldsAgainstTheModelsUnknown) {
  ModelInfo with_unknown = *kAnimals;
  with_unknown.unknown = 2;
  const auto model = std::make_shared<const ModelInfo>(with_unknown);
  StateTracker holding(options({}, 0.7F, 0.4F, {}));
  EXPECT_EQ(feed(holding, milliseconds(0), {0.8F, 0.1F, 0.1F}, model), "cat*");
  EXPECT_EQ(feed(holding, milliseconds(1), {0.45F, 0.05F, 0.5F}, model), "cat");
  EXPECT_EQ(feed(holding, milliseconds(2), {0.39F, 0.3F, 0.31F}, model), "unknown*");
  StateTracker with_one(options({}, 0.4F, 0.4F, {}));
  EXPECT_EQ(feed(with_one, milliseconds(0), {0.8F, 0.1F, 0.1F}, model), "cat*");
  EXPECT_EQ(feed(with_one, milliseconds(1), {0.45F, 0.05F, 0.5F}, model), "unknown*");
}

TEST_F(StateTrackerTest, AFrameWithoutScoresIsUnknown) {
  StateTracker tracker({});
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.4F, 0.35F, 0.25F}), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(1), {}), "unknown*");
  EXPECT_EQ(feed(tracker, milliseconds(2), {0.35F, 0.4F, 0.25F}), "dog*");

  StateTracker steady(options(milliseconds(1000), 0, 0, milliseconds(5)));
  EXPECT_EQ(feed(steady, milliseconds(0), {0.4F, 0.35F, 0.25F}), "");
  EXPECT_EQ(feed(steady, milliseconds(5), {0.4F, 0.35F, 0.25F}), "cat*");
  EXPECT_EQ(feed(steady, milliseconds(6), {}), "cat");
  EXPECT_FALSE(steady.is_settled());
  EXPECT_EQ(feed(steady, milliseconds(11), {}), "unknown*");
  EXPECT_EQ(feed(steady, milliseconds(12), {0.1F, 0.8F, 0.1F}), "unknown");
  EXPECT_EQ(feed(steady, milliseconds(17), {0.1F, 0.8F, 0.1F}), "dog*") << "smoothing began anew";
}

TEST_F(StateTrackerTest, TheOutputForUnknownIsTheStateUnknown) {
  ModelInfo refusing = *kAnimals;
  refusing.unknown = 2;
  const auto model = std::make_shared<ModelInfo>(refusing);
  StateTracker tracker({});
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.1F, 0.2F, 0.7F}, model), "unknown*");
  EXPECT_EQ(tracker.state().kind, SceneState::Kind::kUnknown);
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.6F, 0.3F, 0.1F}, model), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(2), {0.4F, 0.1F, 0.5F}, model), "unknown*");
}

TEST_F(StateTrackerTest, WhatWasEnteredIsLeftBelowTheLowerThreshold) {
  StateTracker tracker(options({}, 0.6F, 0.3F, {}));
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.5F, 0.5F, 0}), "unknown*");
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.6F, 0.4F, 0}), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(2), {0.45F, 0.55F, 0}), "cat") << "the better one is not in";
  EXPECT_EQ(feed(tracker, milliseconds(3), {0.3F, 0.55F, 0.15F}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(4), {0.29F, 0.55F, 0.16F}), "unknown*");
  EXPECT_EQ(feed(tracker, milliseconds(5), {0.4F, 0.6F, 0}), "dog*");
  EXPECT_EQ(feed(tracker, milliseconds(6), {0.6F, 0.4F, 0}), "cat*") << "takes over";
}

TEST_F(StateTrackerTest, SmoothingIsExponentialInTime) {
  StateTracker tracker(options(milliseconds(1000), 0, 0, {}));
  feed(tracker, milliseconds(0), {1, 0, 0});
  EXPECT_FLOAT_EQ(tracker.state().prediction.score, 1) << "the first as it is";
  feed(tracker, milliseconds(500), {0, 1, 0});
  EXPECT_EQ(tracker.state().name(), "cat");
  EXPECT_NEAR(tracker.state().prediction.score, std::exp(-0.5), 1e-6);
  feed(tracker, milliseconds(1000), {0, 1, 0});
  EXPECT_EQ(tracker.state().name(), "dog");
  EXPECT_NEAR(tracker.state().prediction.score, 1 - std::exp(-1.0), 1e-6);
}

TEST_F(StateTrackerTest, SmoothingDoesNotDependOnTheFrameRate) {
  StateTracker slow(options(milliseconds(700), 0, 0, {}));
  StateTracker fast(options(milliseconds(700), 0, 0, {}));
  feed(slow, milliseconds(0), {0.5F, 0.3F, 0.2F});
  feed(fast, milliseconds(0), {0.5F, 0.3F, 0.2F});
  feed(slow, milliseconds(1000), {0.1F, 0.8F, 0.1F});
  for (int i = 1; i <= 100; ++i) feed(fast, milliseconds(10 * i), {0.1F, 0.8F, 0.1F});
  EXPECT_NEAR(slow.state().prediction.score, fast.state().prediction.score, 1e-5);
  EXPECT_EQ(slow.state().name(), fast.state().name());
}

TEST_F(StateTrackerTest, FramesOfTheSameTimeAndLongPausesAreNoTrouble) {
  StateTracker tracker(options(milliseconds(1), 0, 0, {}));
  feed(tracker, milliseconds(0), {1, 0, 0});
  EXPECT_EQ(feed(tracker, milliseconds(0), {0, 1, 0}), "cat") << "no time has passed";
  EXPECT_EQ(feed(tracker, std::chrono::hours(9000), {0, 1, 0}), "dog*");
  EXPECT_FLOAT_EQ(tracker.state().prediction.score, 1);
}

TEST_F(StateTrackerTest, AStateHasToLast) {
  StateTracker tracker(options({}, 0.5F, 0.5F, milliseconds(100)));
  EXPECT_EQ(feed(tracker, milliseconds(0), {1, 0, 0}), "") << "the first one, too";
  EXPECT_EQ(feed(tracker, milliseconds(99), {1, 0, 0}), "");
  EXPECT_EQ(feed(tracker, milliseconds(100), {1, 0, 0}), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(200), {0, 1, 0}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(290), {1, 0, 0}), "cat") << "a break";
  EXPECT_EQ(feed(tracker, milliseconds(300), {0, 1, 0}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(350), {0, 0, 1}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(400), {0, 1, 0}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(499), {0, 1, 0}), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(501), {0, 1, 0}), "dog*");
  EXPECT_EQ(tracker.previous().name(), "cat");
  EXPECT_EQ(feed(tracker, milliseconds(600), {0.4F, 0.3F, 0.3F}), "dog");
  EXPECT_EQ(feed(tracker, milliseconds(700), {0.4F, 0.3F, 0.3F}), "unknown*");
}

TEST_F(StateTrackerTest, AfterAResetTheSameStateIsNewAndOldScoresAreForgotten) {
  StateTracker tracker(options(milliseconds(1000), 0, 0, {}));
  feed(tracker, milliseconds(0), {1, 0, 0});
  tracker.reset();
  EXPECT_EQ(tracker.state().kind, SceneState::Kind::kNone);
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.6F, 0.4F, 0}), "cat*");
  EXPECT_FLOAT_EQ(tracker.state().prediction.score, 0.6F);
  EXPECT_EQ(tracker.previous().kind, SceneState::Kind::kNone);
}

TEST_F(StateTrackerTest, TheSameLabelOfAnotherModelIsNoChange) {
  const ModelInfoPtr other = model_with({"bird", "cat"});
  StateTracker tracker(options(milliseconds(1000), 0.6F, 0.3F, {}));
  EXPECT_EQ(feed(tracker, milliseconds(0), {0.9F, 0.1F, 0}), "cat*");
  EXPECT_EQ(feed(tracker, milliseconds(1), {0.5F, 0.5F}, other), "cat") << "is not left yet";
  EXPECT_EQ(tracker.state().prediction.index, 1U);
  EXPECT_EQ(tracker.state().prediction.label.data(), other->labels[1].data());
  EXPECT_EQ(tracker.state().model, other);
  EXPECT_FLOAT_EQ(tracker.state().prediction.score, 0.5F) << "smoothed with no score of the first";
}

TEST_F(StateTrackerTest, ALabelThatTheModelDoesNotHaveIsTheStateBeforeTheNext) {
  StateTracker tracker(options({}, 0, 0, milliseconds(100)));
  feed(tracker, milliseconds(0), {0, 1, 0});
  EXPECT_EQ(feed(tracker, milliseconds(100), {0, 1, 0}), "dog*");
  {
    const ModelInfoPtr doors = model_with({"open", "shut"});
    EXPECT_EQ(feed(tracker, milliseconds(200), {1, 0}, doors), "");
    EXPECT_EQ(feed(tracker, milliseconds(300), {1, 0}, doors), "open*");
  }
  EXPECT_EQ(tracker.previous().name(), "dog");
  EXPECT_EQ(feed(tracker, milliseconds(400), {0, 1, 0}), "");
  EXPECT_EQ(feed(tracker, milliseconds(500), {0, 1, 0}), "dog*");
  EXPECT_EQ(tracker.previous().name(), "open") << "its model lives with it";
}

// Whether the state is settled after frames with these scores of three classes.
bool is_settled_after(const StateOptions& options, const std::vector<std::vector<float>>& scores) {
  StateTracker tracker(options);
  int at = 0;
  for (const auto& each : scores) {
    tracker.update(each, kAnimals, Clock::time_point(milliseconds(30 * at++)));
  }
  return tracker.is_settled();
}

TEST_F(StateTrackerTest, IsSettledWhenNoiseWouldNotChangeTheCandidate) {
  const StateOptions smoothed = options(milliseconds(500), 0, 0, {});
  EXPECT_TRUE(is_settled_after({}, {{0.4F, 0.39F, 0}})) << "nothing is averaged";
  EXPECT_FALSE(is_settled_after(smoothed, {{0.9F, 0.1F, 0}, {0.9F, 0.1F, 0}, {0.9F, 0.1F, 0}}))
      << "three samples";
  EXPECT_TRUE(is_settled_after(smoothed, std::vector<std::vector<float>>(4, {0.9F, 0.1F, 0})));
  EXPECT_TRUE(is_settled_after(smoothed, std::vector<std::vector<float>>(4, {0.4F, 0.35F, 0.25F})))
      << "near each other, but without noise";
  EXPECT_FALSE(is_settled_after(
      smoothed,
      {{0.46F, 0.34F, 0.2F}, {0.38F, 0.42F, 0.2F}, {0.45F, 0.35F, 0.2F}, {0.42F, 0.38F, 0.2F}}));
  EXPECT_TRUE(is_settled_after(
      smoothed, {{0.9F, 0.1F, 0}, {0.6F, 0.2F, 0.2F}, {0.9F, 0.1F, 0}, {0.7F, 0.1F, 0.2F}}))
      << "far from each other";
}

TEST_F(StateTrackerTest, IsNotSettledNearAThreshold) {
  const std::vector<std::vector<float>> noisy{
      {0.7F, 0.1F, 0.1F}, {0.62F, 0.1F, 0.1F}, {0.68F, 0.1F, 0.1F}, {0.64F, 0.1F, 0.1F}};
  EXPECT_TRUE(is_settled_after(options(milliseconds(500), 0.5F, 0.4F, {}), noisy));
  EXPECT_FALSE(is_settled_after(options(milliseconds(500), 0.65F, 0.4F, {}), noisy));
  EXPECT_FALSE(is_settled_after(options(milliseconds(500), 0.65F, 0.65F, {}), noisy));
  EXPECT_FALSE(is_settled_after(options(milliseconds(500), 0.7F, 0.65F, {}), noisy))
      << "that for leaving, of the class that was entered with the first frame";
}

TEST_F(StateTrackerTest, ScoresThatFramesShareAreOneSample) {
  StateTracker tracker(options(milliseconds(500), 0, 0, {}));
  for (int i = 0; i < 9; ++i) {
    const bool computed = i % 2 == 0;
    EXPECT_EQ(tracker.is_settled(), i > 6) << i;
    tracker.update({0.9F, 0.1F, 0}, kAnimals, Clock::time_point(milliseconds(30 * i)), computed);
  }
  tracker.reset();
  EXPECT_FALSE(tracker.is_settled());
}

TEST_F(StateTrackerTest, AModelThatComesBackInTimeChangesNothing) {
  StateTracker tracker(options({}, 0, 0, milliseconds(100)));
  feed(tracker, milliseconds(0), {0, 1, 0});
  EXPECT_EQ(feed(tracker, milliseconds(100), {0, 1, 0}), "dog*");
  EXPECT_EQ(feed(tracker, milliseconds(200), {1, 0}, model_with({"open", "shut"})), "");
  EXPECT_EQ(feed(tracker, milliseconds(250), {0, 1, 0}), "dog");
}

}  // namespace
}  // namespace lookout

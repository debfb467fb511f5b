#include "pipeline/run/result_completer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/support/model_testing.h"

namespace lookout {
namespace {

using std::chrono::seconds;

const ModelInfoPtr kPets = model_with({"cat", "dog"});

// Returns the numbers of the frames at which the state changes. In the video, frames are a second
// apart, and after three of a class three of the other follow.
std::vector<int> changes(const StateOptions& options, Clock::duration between_captures) {
  ResultCompleter completer(options);
  ClassifiedFrame classified;
  classified.result.model = kPets;
  std::vector<int> numbers;
  for (int i = 0; i < 12; ++i) {
    const bool is_dog = i / 3 % 2 == 1;
    classified.scores = is_dog ? std::vector<float>{0.1F, 0.9F} : std::vector<float>{0.9F, 0.1F};
    classified.frame.captured = Clock::time_point(i * between_captures);
    classified.frame.media_time = seconds(i);
    completer.complete(classified, 0);
    EXPECT_EQ(classified.result.media_time, seconds(i));
    if (classified.result.state_changed) numbers.push_back(i);
  }
  return numbers;
}

TEST(ResultCompleter, StatesOfAVideoFollowItsOwnTime) {
  StateOptions options;
  options.min_duration = seconds(2);
  const std::vector<int> expected{2, 5, 8, 11};
  EXPECT_EQ(changes(options, std::chrono::microseconds(1)), expected) << "decoded quickly";
  EXPECT_EQ(changes(options, std::chrono::hours(1)), expected) << "decoded slowly";
}

TEST(ResultCompleter, AddsCountersAndAgeOfACamerasFrame) {
  ResultCompleter completer({});
  ClassifiedFrame classified;
  classified.result.model = kPets;
  classified.scores = {0.2F, 0.8F};
  classified.frame.captured = Clock::now() - seconds(10);
  const auto before = std::chrono::system_clock::now() - seconds(10);
  completer.complete(classified, 7);
  const Result& result = classified.result;
  EXPECT_EQ(result.dropped, 7U);
  EXPECT_FALSE(result.media_time);
  EXPECT_GE(result.frame_age, seconds(10));
  EXPECT_GE(result.timestamp + std::chrono::milliseconds(1), before);
  EXPECT_LE(result.timestamp, std::chrono::system_clock::now() - seconds(10));
  EXPECT_TRUE(result.state_changed);
  EXPECT_EQ(result.state.name(), "dog");
  EXPECT_EQ(result.previous_state.kind, SceneState::Kind::kNone);
}

TEST(ResultCompleter, SmoothingOfAVideoFollowsItsOwnTime) {
  StateOptions options;
  options.smoothing = seconds(2);
  const auto expected = changes(options, seconds(1));
  EXPECT_EQ(changes(options, std::chrono::microseconds(1)), expected);
  EXPECT_EQ(changes(options, std::chrono::hours(1)), expected);
}

}  // namespace
}  // namespace lookout

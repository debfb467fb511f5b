#include "pipeline/flow/result_completer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace lookout {
namespace {

using std::chrono::seconds;

const std::vector<std::string> kLabels{"cat", "dog"};

// Returns the numbers of the frames at which the state changes. In the video, frames are a second
// apart, and after three of a class three of the other follow.
std::vector<int> changes(const StateOptions& options, Clock::duration between_captures) {
  ResultCompleter completer(kLabels, options);
  ClassifiedFrame classified;
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

TEST(ResultCompleter, SmoothingOfAVideoFollowsItsOwnTime) {
  StateOptions options;
  options.smoothing = seconds(2);
  const auto expected = changes(options, seconds(1));
  EXPECT_EQ(changes(options, std::chrono::microseconds(1)), expected);
  EXPECT_EQ(changes(options, std::chrono::hours(1)), expected);
}

}  // namespace
}  // namespace lookout

#include "pipeline/run/frame_selector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <opencv2/core.hpp>
#include <vector>

#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFrameTime{33};

cv::Mat structured() {
  cv::Mat picture(240, 320, CV_8UC3);
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      picture.at<cv::Vec3b>(y, x) = cv::Vec3b::all(static_cast<unsigned char>(40 + x / 4 + y / 4));
    }
  }
  return picture;
}

// A picture with structure, and a bright square when `open`.
cv::Mat scene(bool open) {
  static const cv::Mat closed = structured();
  cv::Mat picture = closed.clone();
  if (open) picture(cv::Rect(140, 100, 40, 40)) = cv::Scalar::all(250);
  return picture;
}

SelectionOptions still_options() {
  SelectionOptions options;
  options.still = true;
  return options;
}

Frame frame_at(std::uint64_t number, const cv::Mat& picture) {
  Frame frame;
  frame.bgr = picture;
  frame.sequence = number;
  frame.captured = Clock::time_point(std::chrono::hours(1) + number * kFrameTime);
  return frame;
}

FrameUse use_of(FrameSelector& selector, std::uint64_t number, bool open = false) {
  Frame frame = frame_at(number, scene(open));
  return selector.choose(frame).use;
}

TEST(FrameSelector, WhatShowsTheLastClassifiedFrameIsReused) {
  FrameSelector selector(still_options(), {}, {});
  EXPECT_EQ(use_of(selector, 0), FrameUse::kClassify) << "the first";
  EXPECT_EQ(use_of(selector, 1), FrameUse::kReuse);
  EXPECT_EQ(use_of(selector, 2, true), FrameUse::kClassify) << "something came";
  EXPECT_EQ(use_of(selector, 3, true), FrameUse::kReuse);
  EXPECT_EQ(use_of(selector, 4), FrameUse::kClassify) << "it went";
}

TEST(FrameSelector, AFrameIsClassifiedFromTimeToTime) {
  SelectionOptions options = still_options();
  options.at_least_every = milliseconds(330);
  FrameSelector selector(options, {}, {});
  for (std::uint64_t i = 0; i < 31; ++i) {
    EXPECT_EQ(use_of(selector, i), i % 10 == 0 ? FrameUse::kClassify : FrameUse::kReuse) << i;
  }
}

TEST(FrameSelector, NothingIsReusedUnlessAskedFor) {
  FrameSelector selector({}, {}, {});
  EXPECT_EQ(use_of(selector, 0), FrameUse::kClassify);
  EXPECT_EQ(use_of(selector, 1), FrameUse::kClassify);
  selector.set_still(true);
  EXPECT_EQ(use_of(selector, 2), FrameUse::kClassify);
  EXPECT_EQ(use_of(selector, 3), FrameUse::kReuse);
}

TEST(FrameSelector, AfterALossTheFirstFrameIsClassified) {
  FrameSelector selector(still_options(), {}, {});
  EXPECT_EQ(use_of(selector, 0), FrameUse::kClassify);
  selector.forget_from(3);
  EXPECT_EQ(use_of(selector, 2), FrameUse::kReuse) << "captured before the loss";
  EXPECT_EQ(use_of(selector, 3), FrameUse::kClassify);
  EXPECT_EQ(use_of(selector, 4), FrameUse::kReuse);
}

TEST(FrameSelector, FramesBeyondTheRateAreNotWanted) {
  SelectionOptions options;
  options.max_rate = 10;
  FrameSelector selector(options, {}, {});
  int wanted = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    if (use_of(selector, i) == FrameUse::kClassify) ++wanted;
  }
  EXPECT_NEAR(wanted, 99, 2) << "10 a second in 9.9 s";
  EXPECT_EQ(selector.unwanted(), 300U - static_cast<unsigned>(wanted));
  selector.limit_rate(1);
  wanted = 0;
  for (std::uint64_t i = 300; i < 600; ++i) {
    if (use_of(selector, i) == FrameUse::kClassify) ++wanted;
  }
  EXPECT_NEAR(wanted, 10, 1) << "the lower limit holds";
}

std::vector<SelectedRegion> averaged_region(std::size_t samples) {
  SelectedRegion region{};
  region.at_least_every = milliseconds(1000);
  region.samples = samples;
  return {region};
}

TEST(FrameSelector, AfterAChangeSeveralFramesAreClassifiedIfTheyAreAveraged) {
  FrameSelector selector(still_options(), averaged_region(3));
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(use_of(selector, i), FrameUse::kClassify) << i;
  EXPECT_EQ(use_of(selector, 3), FrameUse::kReuse);
  for (std::uint64_t i = 4; i < 7; ++i) {
    EXPECT_EQ(use_of(selector, i, true), FrameUse::kClassify) << i;
  }
  EXPECT_EQ(use_of(selector, 7, true), FrameUse::kReuse);
}

TEST(FrameSelector, WhileTheStateIsNotSettledFramesAreClassified) {
  FrameSelector selector(still_options(), averaged_region(1));
  EXPECT_EQ(use_of(selector, 0), FrameUse::kClassify);
  selector.settle(0, false);
  EXPECT_EQ(use_of(selector, 1), FrameUse::kReuse) << "nothing is averaged";

  FrameSelector averaging(still_options(), averaged_region(2));
  EXPECT_EQ(use_of(averaging, 0), FrameUse::kClassify);
  EXPECT_EQ(use_of(averaging, 1), FrameUse::kClassify);
  averaging.settle(0, false);
  averaging.settle(7, true);  // of a plan with more regions
  EXPECT_EQ(use_of(averaging, 2), FrameUse::kClassify);
  averaging.settle(0, true);
  EXPECT_EQ(use_of(averaging, 3), FrameUse::kReuse);
}

TEST(FrameSelector, LooksAheadAtWhatItWillChoose) {
  FrameSelector selector(still_options(), {}, {});
  cv::Mat small(30, 40, CV_8UC1, cv::Scalar(90));  // an eighth
  std::vector<LumaBlocks> blocks;
  EXPECT_FALSE(selector.looks_still(small, {320, 240}, blocks)) << "nothing was classified yet";
  Frame frame = frame_at(0, {});
  frame.picture.begin(CameraPicture::Kind::kJpeg, nullptr);
  frame.picture.blocks = blocks;
  frame.picture.has_blocks = true;
  EXPECT_EQ(selector.choose(frame).use, FrameUse::kClassify);
  EXPECT_TRUE(selector.looks_still(small, {320, 240}, blocks));
  small.setTo(120);
  EXPECT_FALSE(selector.looks_still(small, {320, 240}, blocks));
}

TEST(FrameSelector, LooksAheadAtWhatItWillNotWant) {
  SelectionOptions options;
  FrameSelector any(options, {}, {});
  options.max_rate = 10;
  FrameSelector selector(options, {}, {});
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Clock::time_point time = frame_at(i, {}).captured;
    EXPECT_FALSE(any.looks_unwanted(time));
    const bool unwanted = selector.looks_unwanted(time);
    EXPECT_EQ(selector.looks_unwanted(time), unwanted) << "a look changes nothing";
    EXPECT_EQ(use_of(selector, i) == FrameUse::kUnwanted, unwanted) << i;
  }
}

// Two heads of one base look at the left half, other models at both halves.
TEST(FrameSelector, TheLeastSizeIsThatOfTheRegions) {
  View left;
  left.roi = {0, 0, 0.25, 1};
  View lower;
  lower.roi = {0, 0.5, 1, 0.5};
  InputSpec input;
  input.width = input.height = 224;
  FrameSelector selector(still_options(), {{{}, input, {}}});
  EXPECT_EQ(selector.least_size(), cv::Size(240, 240));
  selector.use(still_options(), {{left, input, {}}, {lower, input, {}}});
  EXPECT_EQ(selector.least_size(), cv::Size(960, 480))
      << "the left one's width, the lower's height";
  selector.use(still_options(), {{lower, input, {}}});
  EXPECT_EQ(selector.least_size(), cv::Size(240, 480));
}

TEST(FrameSelector, ComparesNothingAheadUnlessResultsAreReused) {
  FrameSelector selector(still_options(), {}, {});
  const cv::Mat picture = scene(false);
  std::vector<LumaBlocks> blocks;
  selector.looks_still(picture, picture.size(), blocks);
  EXPECT_EQ(blocks.size(), 1U);
  selector.set_still(false);
  EXPECT_FALSE(selector.looks_still(picture, picture.size(), blocks));
  EXPECT_TRUE(blocks.empty());
}

TEST(FrameSelector, RegionsThatShareAnInferenceFollowEachOtherAndStay) {
  const int base = 0;
  View left;
  left.roi = {0, 0, 0.5, 1};
  View right;
  right.roi = {0.5, 0, 0.5, 1};
  const milliseconds every(1000);
  FrameSelector selector(
      {},
      {{left, {}, every, &base}, {left, {}, every}, {right, {}, every}, {left, {}, every, &base}});
  Frame frame = frame_at(0, scene(false));
  EXPECT_EQ(selector.choose(frame).region, 0U);
  EXPECT_TRUE(selector.classifies_several());
  EXPECT_TRUE(selector.next_shares());
  selector.leave_rest();
  EXPECT_EQ(selector.next(frame)->region, 3U) << "a newer frame parts them not";
  EXPECT_FALSE(selector.has_next());
  frame = frame_at(1, scene(false));
  EXPECT_EQ(selector.choose(frame).region, 1U) << "those that were left come first";
  EXPECT_FALSE(selector.next_shares());
  selector.leave_rest();
  EXPECT_FALSE(selector.has_next());
}

struct Seen {
  std::vector<std::uint64_t> numbers;
  std::vector<std::size_t> best;
  std::vector<bool> reused;
  StatsSnapshot total;
  int calls = 0;
};

// Frames 0 to 19 are of one scene, 20 to 39 of the other; every other one is brighter by `noise`.
Seen run_with(std::size_t workers, FrameSelector* selector, const StateOptions& state = {},
              int noise = 0) {
  FakeSource source(/*live=*/false, [noise](int read, Frame& frame) {
    if (read == 40) return ReadStatus::kEnd;
    frame.bgr = scene(read >= 20);
    frame.bgr += cv::Scalar::all(read % 2 * noise);
    frame.media_time = read * kFrameTime;
    return ReadStatus::kFrame;
  });
  Seen seen;
  std::atomic<int> calls{0};
  struct Collect : Reporter {
    explicit Collect(Seen& all) : seen(all) {}
    void report(const Result& result, const Frame&) override {
      seen.numbers.push_back(result.sequence);
      seen.best.push_back(result.top.empty() ? 99 : result.top.front().index);
      seen.reused.push_back(result.reused);
    }
    void tick(const StatsSnapshot& stats) override { seen.total = stats; }
    Seen& seen;
  };
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<Collect>(seen));
  std::vector<std::unique_ptr<Classifier>> classifiers;
  for (std::size_t i = 0; i < workers; ++i) {
    classifiers.push_back(std::make_unique<FakeClassifier>([&calls](int) { ++calls; }));
  }
  PipelineOptions options;
  options.selector = selector;
  options.state = state;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifiers, reporters, options, stop);
  seen.calls = calls;
  return seen;
}

class SelectedRunTest : public testing::TestWithParam<std::size_t> {};

TEST_P(SelectedRunTest, ResultsAreThoseOfARunThatClassifiesEachFrame) {
  const Seen all = run_with(GetParam(), nullptr);
  FrameSelector selector(still_options(), {}, {});
  const Seen chosen = run_with(GetParam(), &selector);
  EXPECT_EQ(all.calls, 40);
  EXPECT_EQ(chosen.calls, 2) << "one for each scene";
  EXPECT_EQ(chosen.numbers, all.numbers);
  EXPECT_EQ(chosen.best, all.best);
  EXPECT_EQ(chosen.total.classified, 40U);
  EXPECT_EQ(chosen.total.reused, 38U);
  EXPECT_EQ(chosen.total.in_flight, 0U);
  EXPECT_FALSE(chosen.reused[20]);
}

TEST(FrameSelector, ASmoothedStateHasAllFramesWhileNoiseCouldDecide) {
  StateOptions smoothed;
  smoothed.smoothing = milliseconds(500);
  FrameSelector certain(still_options(), averaged_region(StateTracker::kSamples));
  EXPECT_EQ(run_with(1, &certain, smoothed).calls, 8) << "four for each scene";
  FrameSelector noisy(still_options(), averaged_region(StateTracker::kSamples));
  EXPECT_EQ(run_with(1, &noisy, smoothed, 1).calls, 40) << "the best label is another each time";
  FrameSelector plain(still_options(), {}, {});
  EXPECT_LE(run_with(1, &plain, {}, 1).calls, 3) << "not averaged";
}

TEST_P(SelectedRunTest, FramesThatAreNotWantedHaveNoResult) {
  SelectionOptions options;
  options.max_rate = 10;
  FrameSelector selector(options, {}, {});
  const Seen chosen = run_with(GetParam(), &selector);
  EXPECT_EQ(chosen.total.captured, 40U);
  EXPECT_EQ(chosen.total.classified + chosen.total.unwanted, 40U);
  EXPECT_EQ(chosen.total.dropped, 0U);
  EXPECT_NEAR(static_cast<double>(chosen.total.classified), 14, 1);
}

INSTANTIATE_TEST_SUITE_P(OneAndSeveralWorkers, SelectedRunTest, testing::Values(1U, 3U));

}  // namespace
}  // namespace lookout

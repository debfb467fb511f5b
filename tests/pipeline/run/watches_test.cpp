// Runs that watch several things.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/run/frame_selector.h"
#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr int kFrames = 60;
constexpr milliseconds kFrameTime{40};
const std::vector<cv::Rect2d> kQuarters{
    {0, 0, 0.5, 0.5}, {0.5, 0, 0.5, 0.5}, {0, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}};

// The value of a quarter: each changes at a time of its own.
int value_of(std::size_t quarter, int frame) {
  const int period = 7 + 4 * static_cast<int>(quarter);
  return 40 + 60 * (frame / period % 3) + 5 * static_cast<int>(quarter);
}

// A video of four quarters.
FakeSource::Read video() {
  return [](int read, Frame& frame) {
    if (read == kFrames) return ReadStatus::kEnd;
    frame.bgr.create(240, 320, CV_8UC3);
    for (std::size_t i = 0; i < kQuarters.size(); ++i) {
      const cv::Rect place(static_cast<int>(kQuarters[i].x * 320),
                           static_cast<int>(kQuarters[i].y * 240), 160, 120);
      frame.bgr(place).setTo(cv::Scalar::all(value_of(i, read)));
    }
    frame.media_time = read * kFrameTime;
    return ReadStatus::kFrame;
  };
}

StateOptions state_of(std::size_t watch) {
  StateOptions state;
  state.min_duration = milliseconds(40 * static_cast<int>(watch));
  return state;
}

// What was reported of each watch: the frames whose state is another one, with the state.
struct Reported : Reporter {
  using Changes = std::vector<std::pair<std::uint64_t, std::string>>;

  void report(const Result& result, const Frame&) override {
    const std::string name = result.watch ? result.watch->name : "";
    ++results[name];
    order.push_back(name);
    if (result.state_changed) {
      changes[name].emplace_back(result.sequence, std::string(result.state.name()));
    }
  }
  void tick(const StatsSnapshot& stats) override { total = stats; }

  std::map<std::string, Changes> changes;
  std::map<std::string, int> results;
  std::vector<std::string> order;
  StatsSnapshot total;
};

SelectionOptions selection(bool still) {
  SelectionOptions options;
  options.still = still;
  return options;
}

// A run of watches "0", "1", ... with regions of their own.
struct WatchRun {
  FakeClassifier classifier;
  Plan plan;
  std::vector<std::unique_ptr<Reporter>> reporters{};
  Reported* reported = nullptr;
  PipelineOptions options{};

  WatchRun() {
    auto owned = std::make_unique<Reported>();
    reported = owned.get();
    reporters.push_back(std::move(owned));
  }

  void add_region(const cv::Rect2d& roi) {
    PipelineRegion region;
    region.classifiers.push_back(std::make_shared<Lent>(classifier));
    region.model = std::make_shared<ModelInfo>(model_info(classifier.spec()));
    region.view.roi = roi;
    plan.regions.push_back(region);
  }
  void add_watch(const std::string& name, std::size_t region, const StateOptions& state) {
    plan.watches.push_back({std::make_shared<WatchInfo>(WatchInfo{name, {}}), region, state});
  }
  void run(Source& source, const SelectionOptions& select) {
    FrameSelector selector(select, selected_regions(plan));
    options.selector = &selector;
    PlanSlot plans(std::move(plan));
    const std::atomic<bool> stop{false};
    run_pipeline(source, plans, reporters, options, stop);
  }
};

Reported::Changes alone(std::size_t quarter, bool still) {
  FakeSource source(/*live=*/false, video());
  FakeClassifier classifier;
  std::vector<std::unique_ptr<Reporter>> reporters;
  auto owned = std::make_unique<Reported>();
  const Reported& reported = *owned;
  reporters.push_back(std::move(owned));
  PipelineOptions options;
  options.view.roi = kQuarters[quarter];
  options.state = state_of(quarter);
  FrameSelector selector(selection(still), options.view, classifier.spec().input);
  options.selector = &selector;
  const std::atomic<bool> stop{false};
  run_pipeline(source, classifier, reporters, options, stop);
  return reported.changes.at("");
}

class WatchesTest : public testing::TestWithParam<bool> {};

TEST_P(WatchesTest, EachHasTheStatesThatARunOfItsOwnHas) {
  WatchRun run;
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, state_of(i));
  }
  FakeSource source(/*live=*/false, video());
  run.run(source, selection(GetParam()));
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    const std::string name = std::to_string(i);
    EXPECT_EQ(run.reported->changes[name], alone(i, GetParam())) << name;
    EXPECT_EQ(run.reported->results[name], kFrames);
    EXPECT_GE(run.reported->changes[name].size(), 3U);
  }
  EXPECT_EQ(run.reported->total.captured, static_cast<unsigned>(kFrames));
  EXPECT_EQ(run.reported->total.classified, static_cast<unsigned>(kFrames))
      << "a frame counts once";
  EXPECT_EQ(run.reported->total.in_flight, 0U);
}

TEST_P(WatchesTest, TwoStatesOfOneRegionShareItsInferences) {
  WatchRun run;
  run.add_region(kQuarters[0]);
  run.add_watch("fast", 0, {});
  run.add_watch("slow", 0, state_of(3));
  FakeSource source(/*live=*/false, video());
  run.run(source, selection(GetParam()));
  WatchRun one;
  one.add_region(kQuarters[0]);
  one.add_watch("fast", 0, {});
  FakeSource again(/*live=*/false, video());
  one.run(again, selection(GetParam()));
  EXPECT_EQ(run.classifier.calls(), one.classifier.calls());
  EXPECT_EQ(run.reported->changes["fast"], one.reported->changes["fast"]);
  EXPECT_EQ(run.reported->changes["slow"].front().first, 3U) << "120 ms later";
  EXPECT_EQ(run.reported->changes["slow"].size(), run.reported->changes["fast"].size());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutReuse, WatchesTest, testing::Bool());

// Each inference takes until the camera has sent another frame.
TEST(Watches, OfALiveSourceEachIsClassifiedOnTheNewestFrameAndNoneStarves) {
  WatchRun run;
  for (std::size_t i = 0; i < 3; ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, {});
  }
  std::atomic<int> sent{0};
  std::atomic<int> wanted{1};
  FakeSource source(/*live=*/true, [&](int, Frame& frame) {
    if (sent == 30) return ReadStatus::kEnd;
    if (sent >= wanted) return ReadStatus::kTimeout;
    ++sent;
    return fill(frame, sent, {320, 240});
  });
  FakeClassifier slow([&](int) {
    const int before = sent;
    wanted = before + 2;  // the second has been put when the third is asked for
    while (sent < wanted && sent < 30) std::this_thread::yield();
  });
  for (PipelineRegion& region : run.plan.regions) {
    region.classifiers.front() = std::make_shared<Lent>(slow);
  }
  run.run(source, {});
  ASSERT_GT(run.reported->order.size(), 6U);
  for (std::size_t i = 0; i < run.reported->order.size(); ++i) {
    EXPECT_EQ(run.reported->order[i], std::to_string(i % 3)) << "they take turns";
  }
}

}  // namespace
}  // namespace lookout

// Runs that watch several things.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/mutex.h"
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
    all.emplace_back(result.sequence, name, result.reused, result.top.front().label);
    if (result.state_changed) {
      changes[name].emplace_back(result.sequence, std::string(result.state.name()));
    }
  }
  void tick(const StatsSnapshot& stats) override { total = stats; }

  std::map<std::string, Changes> changes;
  std::map<std::string, int> results;
  std::vector<std::string> order;
  std::vector<std::tuple<std::uint64_t, std::string, bool, std::string>> all;
  StatsSnapshot total;
};

SelectionOptions selection(bool still) {
  SelectionOptions options;
  options.still = still;
  return options;
}

// Counts how often it and others are called, from several threads.
class CountingClassifier : public FakeClassifier {
 public:
  explicit CountingClassifier(std::atomic<int>& calls)
      : FakeClassifier([&calls](int) { ++calls; }) {}
};

// A run of watches "0", "1", ... with regions of their own.
struct WatchRun {
  const std::size_t workers;
  std::atomic<int> calls{0};
  std::vector<std::shared_ptr<Classifier>> classifiers{};
  Plan plan{};
  std::vector<std::unique_ptr<Reporter>> reporters{};
  Reported* reported = nullptr;
  PipelineOptions options{};

  explicit WatchRun(std::size_t worker_count = 1) : workers(worker_count) {
    for (std::size_t i = 0; i < workers; ++i) {
      classifiers.push_back(std::make_shared<CountingClassifier>(calls));
    }
    auto owned = std::make_unique<Reported>();
    reported = owned.get();
    reporters.push_back(std::move(owned));
  }

  void add_region(const cv::Rect2d& roi) {
    PipelineRegion region;
    region.classifiers = classifiers;
    region.model = std::make_shared<ModelInfo>(model_info(classifiers.front()->spec()));
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

// Whether results are reused, and the number of workers.
class WatchesTest : public testing::TestWithParam<std::tuple<bool, std::size_t>> {
 protected:
  static bool reuses() { return std::get<0>(GetParam()); }
  static std::size_t workers() { return std::get<1>(GetParam()); }
};

TEST_P(WatchesTest, EachHasTheStatesThatARunOfItsOwnHas) {
  WatchRun run(workers());
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, state_of(i));
  }
  FakeSource source(/*live=*/false, video());
  run.run(source, selection(reuses()));
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    const std::string name = std::to_string(i);
    EXPECT_EQ(run.reported->changes[name], alone(i, reuses())) << name;
    EXPECT_EQ(run.reported->results[name], kFrames);
    EXPECT_GE(run.reported->changes[name].size(), 3U);
  }
  EXPECT_EQ(run.reported->total.captured, static_cast<unsigned>(kFrames));
  EXPECT_EQ(run.reported->total.classified, static_cast<unsigned>(kFrames))
      << "a frame counts once";
  EXPECT_EQ(run.reported->total.in_flight, 0U);
}

TEST_P(WatchesTest, TwoStatesOfOneRegionShareItsInferences) {
  WatchRun run(workers());
  run.add_region(kQuarters[0]);
  run.add_watch("fast", 0, {});
  run.add_watch("slow", 0, state_of(3));
  FakeSource source(/*live=*/false, video());
  run.run(source, selection(reuses()));
  WatchRun one(workers());
  one.add_region(kQuarters[0]);
  one.add_watch("fast", 0, {});
  FakeSource again(/*live=*/false, video());
  one.run(again, selection(reuses()));
  EXPECT_EQ(run.calls, one.calls);
  EXPECT_EQ(run.reported->changes["fast"], one.reported->changes["fast"]);
  EXPECT_EQ(run.reported->changes["slow"].front().first, 3U) << "120 ms later";
  EXPECT_EQ(run.reported->changes["slow"].size(), run.reported->changes["fast"].size());
}

TEST_P(WatchesTest, ResultsAndTheirOrderAreThoseWithoutWorkers) {
  for (const auto rate : {std::optional<double>(), std::optional<double>(60)}) {
    WatchRun one;
    WatchRun run(workers());
    for (WatchRun* each : {&one, &run}) {
      for (std::size_t i = 0; i < kQuarters.size(); ++i) {
        each->add_region(kQuarters[i]);
        each->add_watch(std::to_string(i), i, state_of(i));
      }
      FakeSource source(/*live=*/false, video());
      SelectionOptions options = selection(reuses());
      options.max_rate = rate;
      each->run(source, options);
    }
    EXPECT_EQ(run.reported->all, one.reported->all);
    EXPECT_EQ(run.calls, one.calls);
    EXPECT_EQ(run.reported->total.classified, one.reported->total.classified);
    EXPECT_EQ(run.reported->total.reused, one.reported->total.reused);
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutReuseAndWorkers, WatchesTest,
                         testing::Combine(testing::Bool(), testing::Values(1U, 3U)));

// A live camera of 30 frames, which sends one when it is waited for.
class AwaitedCamera {
 public:
  // The second frame from now has been put when the third is asked for.
  void wait_for_more() {
    wanted_ = sent_ + 2;
    while (sent_ < wanted_ && sent_ < kFrames) std::this_thread::yield();
  }
  Source& source() { return source_; }

 private:
  static constexpr int kFrames = 30;

  std::atomic<int> sent_{0};
  std::atomic<int> wanted_{1};
  FakeSource source_{/*live=*/true, [this](int, Frame& frame) {
                       if (sent_ == kFrames) return ReadStatus::kEnd;
                       if (sent_ >= wanted_) return ReadStatus::kTimeout;
                       ++sent_;
                       return fill(frame, sent_, {320, 240});
                     }};
};

class WatchesOfWorkers : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(OneAndSeveral, WatchesOfWorkers, testing::Values(1U, 2U, 3U));

// Each inference takes until the camera has sent another frame.
TEST_P(WatchesOfWorkers, OfALiveSourceEachIsClassifiedOnTheNewestFrameAndNoneStarves) {
  WatchRun run(GetParam());
  for (std::size_t i = 0; i < 3; ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, {});
  }
  AwaitedCamera camera;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    const auto slow = std::make_shared<FakeClassifier>([&](int) { camera.wait_for_more(); });
    for (PipelineRegion& region : run.plan.regions) region.classifiers[i] = slow;
  }
  run.run(camera.source(), {});
  ASSERT_GT(run.reported->order.size(), 6U);
  for (std::size_t i = 0; i < run.reported->order.size(); ++i) {
    EXPECT_EQ(run.reported->order[i], std::to_string(i % 3)) << "they take turns";
  }
}

// Calls a function with the number of each frame before it is classified.
class SeeingClassifier : public FakeClassifier {
 public:
  explicit SeeingClassifier(std::function<void(std::uint64_t)> see) : see_(std::move(see)) {}
  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    see_(frame.sequence);
    FakeClassifier::classify(image, frame, logits);
  }

 private:
  std::function<void(std::uint64_t)> see_;
};

// Two heads of one base look at the first part of the picture, another model at the second.
TEST_P(WatchesOfWorkers, RegionsThatShareAnInferenceAreClassifiedTogether) {
  WatchRun run(GetParam());
  for (const std::size_t quarter : {0, 1, 0}) run.add_region(kQuarters[quarter]);
  for (std::size_t i = 0; i < 3; ++i) run.add_watch(std::to_string(i), i, {});
  const auto base = std::make_shared<int>(0);
  run.plan.regions[0].base = base;
  run.plan.regions[2].base = base;
  AwaitedCamera camera;
  Mutex mutex;
  std::map<std::uint64_t, std::set<std::thread::id>> threads;  // of each frame's two heads
  for (std::size_t i = 0; i < 3; ++i) {
    for (auto& classifier : run.plan.regions[i].classifiers) {
      classifier = std::make_shared<SeeingClassifier>([&, i](std::uint64_t sequence) {
        camera.wait_for_more();
        const MutexLock lock(mutex);
        if (i != 1) threads[sequence].insert(std::this_thread::get_id());
      });
    }
  }
  run.run(camera.source(), {});
  std::map<std::uint64_t, std::vector<std::string>> of_frames;
  for (const auto& [sequence, name, reused, label] : run.reported->all) {
    if (name != "1") of_frames[sequence].push_back(name);
  }
  EXPECT_GE(of_frames.size(), 3U);
  for (const auto& [sequence, names] : of_frames) {
    EXPECT_THAT(names, ElementsAre("0", "2")) << "a newer frame parts them not";
  }
  for (const auto& [sequence, ids] : threads) EXPECT_EQ(ids.size(), 1U) << sequence;
}

TEST(Watches, WorkersClassifyTheRegionsOfAFrameSideBySide) {
  WatchRun run(2);
  Gate began[2];
  for (std::size_t i = 0; i < 2; ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, {});
    for (auto& classifier : run.plan.regions[i].classifiers) {
      classifier = std::make_shared<FakeClassifier>([&began, i](int) {
        began[i].open();
        began[1 - i].wait();
      });
    }
  }
  FakeSource source(/*live=*/false, frames(1, {320, 240}));
  run.run(source, {});
  EXPECT_THAT(run.reported->order, ElementsAre("0", "1"));
}

TEST_P(WatchesOfWorkers, AFailureInARegionIsThrownAfterTheResultsBeforeIt) {
  WatchRun run(GetParam());
  for (std::size_t i = 0; i < 3; ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, {});
  }
  for (auto& classifier : run.plan.regions[1].classifiers) {
    classifier = std::make_shared<SeeingClassifier>([](std::uint64_t sequence) {
      if (sequence == 5) throw Error(ErrorKind::kBadData, "broken");
    });
  }
  FakeSource source(/*live=*/false, frames(100, {320, 240}));
  EXPECT_THROW(run.run(source, {}), Error);
  ASSERT_EQ(run.reported->order.size(), 16U) << "five frames, and the first region of the sixth";
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(run.reported->order[i], std::to_string(i % 3));
}

std::atomic<int> decoded_jpegs{0};

bool decode_grey(const CameraPicture& picture, int eighths, cv::Mat& bgr) {
  ++decoded_jpegs;
  bgr.create(30 * eighths, 40 * eighths, CV_8UC3);
  bgr.setTo(cv::Scalar::all(picture.bytes.front()));
  return true;
}

TEST_P(WatchesOfWorkers, AJpegIsDecodedOnceForAllRegionsOfAFrame) {
  WatchRun run(GetParam());
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    run.add_region(kQuarters[i]);
    run.add_watch(std::to_string(i), i, {});
  }
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == kFrames) return ReadStatus::kEnd;
    frame.picture.begin(CameraPicture::Kind::kJpeg, decode_grey);
    frame.picture.eighths = 4;
    frame.picture.bytes.assign(1, static_cast<unsigned char>(read));
    return ReadStatus::kFrame;
  });
  decoded_jpegs = 0;
  run.run(source, {});
  EXPECT_EQ(decoded_jpegs, kFrames);
  ASSERT_EQ(run.reported->all.size(), 4U * kFrames);
  for (const auto& [sequence, name, reused, label] : run.reported->all) {
    EXPECT_EQ(label, "value " + std::to_string(sequence));
  }
}

}  // namespace
}  // namespace lookout

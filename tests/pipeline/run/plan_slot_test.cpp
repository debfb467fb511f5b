#include "pipeline/run/plan_slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/core/mutex.h"
#include "pipeline/run/pipeline.h"
#include "tests/support/fakes.h"

namespace lookout {
namespace {

using ::testing::ElementsAre;

// Counts the classifiers that live, and notes the thread that ended the last one.
class Counted : public FakeClassifier {
 public:
  Counted(ModelSpec spec, std::atomic<int>& alive, std::atomic<std::thread::id>& ended_by)
      : FakeClassifier({}, std::move(spec)), alive_(alive), ended_by_(ended_by) {
    ++alive_;
  }
  ~Counted() override {
    --alive_;
    ended_by_ = std::this_thread::get_id();
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int>& alive_;
  std::atomic<std::thread::id>& ended_by_;
};

// The number of the newest plan that has a result.
class Reached {
 public:
  void set(int number) {
    const MutexLock lock(mutex_);
    number_ = number;
    changed_.notify_all();
  }
  void wait(int number) {
    const MutexLock lock(mutex_);
    while (number_ < number) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int number_ GUARDED_BY(mutex_) = -1;
};

// Keeps results, whose labels have to live with them, and what it was told.
struct Kept {
  std::vector<Result> results;
  std::vector<WatchList> watching;
  std::vector<std::size_t> results_before;  // each of `watching`
};

class Keeper : public Reporter {
 public:
  explicit Keeper(Kept& kept, std::function<void(const Result&)> on_report = {})
      : kept_(kept), on_report_(std::move(on_report)) {}

  void watching(const WatchList& watches) override {
    kept_.watching.push_back(watches);
    kept_.results_before.push_back(kept_.results.size());
  }
  void report(const Result& result, const Frame& /*frame*/) override {
    kept_.results.push_back(result);
    if (on_report_) on_report_(result);
  }

 private:
  Kept& kept_;
  std::function<void(const Result&)> on_report_;
};

// Plans whose models have labels that begin with their number, so that a label tells whose it is.
class PlanSlotTest : public testing::Test {
 protected:
  PipelineRegion region(int number, int workers, const InputSpec& input = {}) {
    ModelSpec spec;
    spec.input = input;
    PipelineRegion region;
    for (int i = 0; i < workers; ++i) {
      region.classifiers.push_back(std::make_shared<Counted>(spec, alive_, ended_by_));
    }
    ModelInfo info = model_info(region.classifiers.front()->spec());
    info.name = std::to_string(number);
    for (std::string& label : info.labels) label.insert(0, info.name + " ");
    region.model = std::make_shared<ModelInfo>(std::move(info));
    return region;
  }

  Plan plan(int number, int workers, const InputSpec& input = {}) {
    Plan plan;
    plan.regions.push_back(region(number, workers, input));
    plan.watches.emplace_back();
    return plan;
  }

  // Runs until the source ends. `on_report` may offer plans.
  void run(Source& source, PlanSlot& plans, std::function<void(const Result&)> on_report,
           const PipelineOptions& options = {}) {
    Reporters reporters;
    reporters.push_back(std::make_unique<Keeper>(kept_, std::move(on_report)));
    const std::atomic<bool> stop{false};
    total_ = run_pipeline(source, plans, reporters, options, stop);
  }

  // Of regions that all have the plan's number.
  Plan plan_of_watches(int number, int workers, std::size_t regions);
  void swap_under_load(int workers);
  void swap_watches_under_load(int workers);
  void expect_own_labels() const;

  std::atomic<int> alive_ = 0;
  std::atomic<std::thread::id> ended_by_;
  Kept kept_;
  StatsSnapshot total_;
};

constexpr int kSwaps = 1000;

// Every frame has one result, in order, of a plan that is not older than the one before, and labels
// of that plan's model.
void PlanSlotTest::expect_own_labels() const {
  int newest = 0;
  for (std::size_t i = 0; i < kept_.results.size(); ++i) {
    const Result& result = kept_.results[i];
    ASSERT_EQ(result.sequence, i);
    const int number = std::stoi(result.model->name);
    ASSERT_GE(number, newest) << "frame " << i << " came back to an older model";
    newest = number;
    const std::string value = "value " + std::to_string(i % 256);
    ASSERT_EQ(result.top.front().label, result.model->name + " " + value);
    ASSERT_EQ(result.state.name(), result.top.front().label);
    ASSERT_EQ(result.state.model, result.model);
    if (i > 0) {
      ASSERT_EQ(result.previous_state.name(), kept_.results[i - 1].state.name());
    }
  }
}

// Another thread offers a plan as soon as a result of the one before came, and frees the old ones.
void PlanSlotTest::swap_under_load(int workers) {
  Reached reached;
  std::atomic<bool> done{false};
  int frame_count = 0;
  {
    PlanSlot plans(plan(0, workers));
    std::thread loader([&] {
      reached.wait(0);
      for (int i = 1; i <= kSwaps; ++i) {
        plans.offer(plan(i, workers));
        reached.wait(i);
        plans.free_retired();
      }
      done = true;
    });
    FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
      if (done) return ReadStatus::kEnd;
      frame_count = read + 1;
      return fill(frame, read % 256);
    });
    run(source, plans, [&](const Result& result) { reached.set(std::stoi(result.model->name)); });
    const std::thread::id loader_id = loader.get_id();
    EXPECT_EQ(ended_by_, loader_id) << "who classifies frees no model";
    loader.join();
    EXPECT_EQ(total_.dropped, 0U);
    plans.free_retired();
    EXPECT_EQ(alive_, workers) << "those of the last plan alone";
  }
  EXPECT_EQ(alive_, 0);
  ASSERT_EQ(kept_.results.size(), static_cast<std::size_t>(frame_count)) << "none is lost";
  expect_own_labels();
  ASSERT_EQ(kept_.watching.size(), kSwaps + 1U);
  for (int i = 0; i <= kSwaps; ++i) {
    const std::string name = kept_.watching[i].at(0).model->name;
    ASSERT_EQ(name, std::to_string(i));
    const std::size_t first = kept_.results_before[i];
    ASSERT_EQ(kept_.results.at(first).model->name, name) << "told before its first result";
  }
}

TEST_F(PlanSlotTest, AThousandSwapsUnderLoad) { swap_under_load(1); }

TEST_F(PlanSlotTest, AThousandSwapsUnderLoadWithThreeWorkers) { swap_under_load(3); }

TEST_F(PlanSlotTest, WhoClassifiesFreesNoModel) {
  std::atomic<int> retired{0};
  PlanSlot plans(plan(0, 1), [&retired] { ++retired; });
  PlanPtr used;
  EXPECT_FALSE(plans.take(used));
  plans.offer(plan(1, 1));
  plans.offer(plan(2, 1));
  EXPECT_EQ(retired, 1) << "a plan that was never taken";
  EXPECT_EQ(plans.current()->regions[0].model->name, "0");
  EXPECT_TRUE(plans.take(used));
  EXPECT_EQ(used->regions[0].model->name, "2");
  EXPECT_EQ(retired, 2);
  EXPECT_EQ(alive_, 3) << "none was freed yet";
  std::thread loader([&plans] { plans.free_retired(); });
  const std::thread::id id = loader.get_id();
  loader.join();
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(ended_by_, id);
}

TEST_F(PlanSlotTest, AModelThatStaysIsSharedByBothPlans) {
  const PipelineRegion shared = region(0, 1);
  Plan first;
  first.regions.push_back(shared);
  first.watches.emplace_back();
  Plan second = first;
  second.top_k = 1;
  PlanSlot plans(std::move(first));
  FakeSource source(/*live=*/false, frames(20));
  run(source, plans, [&](const Result& result) {
    if (result.sequence == 9) plans.offer(second);
  });
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(kept_.results[9].top.size(), 10U);
  EXPECT_EQ(kept_.results[10].top.size(), 1U);
  EXPECT_EQ(kept_.results[10].model, kept_.results[9].model);
}

TEST_F(PlanSlotTest, NothingOfThePlanBeforeIsReused) {
  Plan first = plan(0, 1);
  first.selection.still = true;
  first.regions[0].at_least_every = std::chrono::hours(1);
  Plan second = plan(1, 1);
  second.selection = first.selection;
  second.regions[0].at_least_every = std::chrono::hours(1);
  FrameSelector selector(first.selection, selected_regions(first));
  PlanSlot plans(std::move(first));
  FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
    return read == 40 ? ReadStatus::kEnd : fill(frame, 100, {64, 64});
  });
  PipelineOptions options;
  options.selector = &selector;
  run(
      source, plans,
      [&](const Result& result) {
        if (result.sequence == 9) plans.offer(second);
      },
      options);
  ASSERT_EQ(kept_.results.size(), 40U);
  EXPECT_TRUE(kept_.results[9].reused);
  EXPECT_EQ(kept_.results[9].model->name, "0");
  EXPECT_FALSE(kept_.results[10].reused);
  EXPECT_EQ(kept_.results[10].model->name, "1");
  EXPECT_TRUE(kept_.results[39].reused);
  EXPECT_EQ(kept_.results[39].top.front().label, "1 value 100");
}

TEST_F(PlanSlotTest, AModelMayHaveAnotherInput) {
  InputSpec input;
  input.resize = ResizeMode::kStretch;
  PlanSlot plans(plan(0, 1));
  // Its left and its right end differ from its middle, which is all that the first model sees.
  FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
    if (read == 4) return ReadStatus::kEnd;
    fill(frame, 50, {64, 16});
    frame.bgr.colRange(24, 40).setTo(cv::Scalar::all(200));
    return ReadStatus::kFrame;
  });
  run(source, plans, [&](const Result& result) {
    if (result.sequence == 1) plans.offer(plan(1, 1, input));
  });
  ASSERT_EQ(kept_.results.size(), 4U);
  EXPECT_EQ(kept_.results[1].top.front().label, "0 value 200");
  EXPECT_EQ(kept_.results[2].top.front().label, "1 value 50");
}

TEST_F(PlanSlotTest, PicturesOfClientsGetTheNewModelWithoutFrames) {
  for (const int workers : {1, 2}) {
    PlanSlot plans(plan(0, workers));
    PictureQueue pictures;
    Gate end;
    FakeSource source(/*live=*/true, [&](int, Frame&) {
      end.wait();
      return ReadStatus::kEnd;
    });
    Reached told;
    class Told : public Reporter {
     public:
      explicit Told(Reached& told) : told_(told) {}
      void watching(const WatchList& watches) override {
        told_.set(std::stoi(watches.front().model->name));
      }

     private:
      Reached& told_;
    };
    std::thread running([&] {
      PipelineOptions options;
      options.pictures = &pictures;
      Reporters reporters;
      reporters.push_back(std::make_unique<Told>(told));
      const std::atomic<bool> stop{false};
      run_pipeline(source, plans, reporters, options, stop);
    });
    const cv::Mat grey(8, 8, CV_8UC3, cv::Scalar::all(7));
    plans.offer(plan(1, workers));
    std::string label;
    while (label != "1 value 7") label = std::string(pictures.classify(grey)->top.front().label);
    told.wait(1);
    end.open();
    running.join();
  }
}

PipelineWatch watch(const std::string& name, std::size_t region, StateOptions state = {}) {
  return {std::make_shared<WatchInfo>(WatchInfo{name, {}}), region, state};
}

Plan PlanSlotTest::plan_of_watches(int number, int workers, std::size_t regions) {
  Plan plan;
  for (std::size_t i = 0; i < regions; ++i) {
    plan.regions.push_back(region(number, workers));
    plan.watches.push_back(watch(std::to_string(i), i));
  }
  return plan;
}

constexpr int kWatchSwaps = 200;

// Plans of 1, 2, 3 and 4 watches take turns.
void PlanSlotTest::swap_watches_under_load(int workers) {
  const auto regions_of = [](int number) { return 1 + static_cast<std::size_t>(number) % 4; };
  Reached reached;
  std::atomic<bool> done{false};
  Plan first = plan_of_watches(0, workers, regions_of(0));
  FrameSelector selector({}, selected_regions(first));
  PlanSlot plans(std::move(first));
  std::thread loader([&] {
    for (int i = 1; i <= kWatchSwaps; ++i) {
      reached.wait(i - 1);
      plans.offer(plan_of_watches(i, workers, regions_of(i)));
      plans.free_retired();
    }
    reached.wait(kWatchSwaps);
    done = true;
  });
  FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
    return done ? ReadStatus::kEnd : fill(frame, read % 256);
  });
  PipelineOptions options;
  options.selector = &selector;
  run(
      source, plans, [&](const Result& result) { reached.set(std::stoi(result.model->name)); },
      options);
  loader.join();
  ASSERT_EQ(kept_.watching.size(), kWatchSwaps + 1U);
  EXPECT_EQ(total_.in_flight, 0U);
  std::uint64_t sequence = 0;
  int newest = 0;
  for (std::size_t i = 0; i < kept_.results.size(); ++sequence) {
    const int number = std::stoi(kept_.results[i].model->name);
    ASSERT_GE(number, newest) << "frame " << sequence << " came back to an older model";
    newest = number;
    for (std::size_t region = 0; region < regions_of(number); ++region, ++i) {
      ASSERT_LT(i, kept_.results.size());
      const Result& result = kept_.results[i];
      ASSERT_EQ(result.sequence, sequence);
      ASSERT_EQ(result.watch->name, std::to_string(region));
      const std::string value = std::to_string(sequence % 256);
      ASSERT_EQ(result.top.front().label, std::to_string(number) + " value " + value);
      ASSERT_EQ(result.state.name(), result.top.front().label);
    }
  }
}

TEST_F(PlanSlotTest, SwapsOfWatchesUnderLoad) { swap_watches_under_load(1); }

TEST_F(PlanSlotTest, SwapsOfWatchesUnderLoadWithThreeWorkers) { swap_watches_under_load(3); }

class PlansOfWorkers : public PlanSlotTest, public testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(OneAndSeveral, PlansOfWorkers, testing::Values(1, 3));

TEST_P(PlansOfWorkers, AWatchThatStaysKeepsItsStateAndOthersComeAndGo) {
  const PipelineRegion shared = region(0, GetParam());
  Plan first;
  first.regions = {shared};
  first.watches = {watch("gate", 0), watch("lamp", 0)};
  Plan second;
  second.regions = {shared, region(1, GetParam())};
  StateOptions slow;
  slow.min_duration = std::chrono::milliseconds(1);
  second.watches = {watch("box", 1), watch("gate", 0, slow)};
  FrameSelector selector({}, selected_regions(first));
  PlanSlot plans(std::move(first));
  FakeSource source(/*live=*/false, [&](int read, Frame& frame) {
    return read == 20 ? ReadStatus::kEnd : fill(frame, 7);
  });
  PipelineOptions options;
  options.selector = &selector;
  std::vector<std::string> changes;
  run(
      source, plans,
      [&](const Result& result) {
        if (result.state_changed) changes.push_back(result.watch->name);
        if (result.sequence == 9 && result.watch->name == "lamp") plans.offer(second);
      },
      options);
  EXPECT_THAT(changes, ElementsAre("gate", "lamp", "box")) << "gate's state is no news";
  ASSERT_EQ(kept_.results.size(), 40U) << "each frame has a result of both watches";
  EXPECT_EQ(kept_.results[38].watch->name, "gate");
  EXPECT_EQ(kept_.results[38].state.name(), "0 value 7");
  ASSERT_EQ(kept_.watching.size(), 2U);
  EXPECT_EQ(kept_.watching[1].at(0).watch->name, "box");
  EXPECT_EQ(kept_.watching[1].at(0).model->name, "1");
  EXPECT_EQ(total_.classified, 20U);
}

TEST_F(PlanSlotTest, PicturesOfClientsAreForTheWatchesOfTheNewPlan) {
  Plan first = plan(0, 1);
  first.watches = {watch("gate", 0)};
  Plan second;
  second.regions = {region(1, 1), region(2, 1)};
  second.watches = {watch("lamp", 0), watch("box", 1)};
  FrameSelector selector({}, selected_regions(first));
  PlanSlot plans(std::move(first));
  PictureQueue pictures;
  Gate end;
  FakeSource source(/*live=*/true, [&](int, Frame&) {
    end.wait();
    return ReadStatus::kEnd;
  });
  std::thread running([&] {
    PipelineOptions options;
    options.pictures = &pictures;
    options.selector = &selector;
    const std::atomic<bool> stop{false};
    run_pipeline(source, plans, {}, options, stop);
  });
  const cv::Mat grey(8, 8, CV_8UC3, cv::Scalar::all(7));
  EXPECT_EQ(pictures.classify(grey, "gate")->top.front().label, "0 value 7");
  EXPECT_THROW(pictures.classify(grey, "box"), NoSuchWatch);
  plans.offer(second);
  while (pictures.classify(grey)->model->name == "0") std::this_thread::yield();
  const auto result = pictures.classify(grey, "box");
  EXPECT_EQ(result->top.front().label, "2 value 7");
  EXPECT_EQ(result->watch->name, "box");
  EXPECT_THROW(pictures.classify(grey, "gate"), NoSuchWatch);
  end.open();
  running.join();
}

TEST_F(PlanSlotTest, ReportersOfAPlanAreToldWhileItIsTheRuns) {
  Kept of_first;
  Kept of_both;
  const auto both = std::make_shared<Keeper>(of_both);
  Plan first = plan(0, 1);
  first.reporters = {std::make_shared<Keeper>(of_first), both};
  Plan second = plan(1, 1);
  second.reporters = {both};
  PlanSlot plans(std::move(first));
  FakeSource source(/*live=*/false, frames(20));
  run(source, plans, [&](const Result& result) {
    if (result.sequence == 9) plans.offer(second);
  });
  EXPECT_EQ(of_first.results.size(), 10U);
  EXPECT_EQ(of_first.watching.size(), 1U);
  EXPECT_EQ(of_both.results.size(), 20U);
  EXPECT_EQ(of_both.watching.size(), 2U);
}

}  // namespace
}  // namespace lookout

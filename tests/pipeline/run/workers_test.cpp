#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "pipeline/core/error.h"
#include "pipeline/core/latest.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/run/workers.h"
#include "tests/support/fakes.h"
#include "tests/support/model_testing.h"

namespace lookout {
namespace {

TEST(Workers, ClassifyEveryFrameOfAFileOnceAndReportInOrder) {
  FakeSource source(/*live=*/false, frames(500));
  FakeClassifier one;
  FakeClassifier two;
  FakeClassifier three;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  const StatsSnapshot total =
      run_pipeline(source, lent({&one, &two, &three}), reporting_to(log), {}, stop);
  std::vector<std::uint64_t> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log.sequences, expected);
  for (std::size_t i = 0; i < log.best.size(); ++i) EXPECT_EQ(log.best[i], i % 256);
  EXPECT_EQ(one.calls() + two.calls() + three.calls(), 500);
  EXPECT_EQ(total.classified, 500U);
  EXPECT_EQ(total.in_flight, 0U);
}

TEST(Workers, AFrameThatIsReadySoonerWaitsForTheOneBeforeIt) {
  // Whoever begins first is held until the other worker is through with a frame and has begun one
  // more.
  Gate third_began;
  std::atomic<int> began{0};
  const auto classify = [&](int /*call*/) {
    const int before = began++;
    if (before == 0) third_began.wait();
    if (before == 2) third_began.open();
  };
  FakeSource source(/*live=*/false, frames(10));
  FakeClassifier one(classify);
  FakeClassifier two(classify);
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  run_pipeline(source, lent({&one, &two}), reporting_to(log), {}, stop);
  std::vector<std::uint64_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log.sequences, expected);
}

TEST(Workers, WorkAtTheSameTime) {
  // Each waits for the other to have begun.
  Gate began[2];
  const auto meet = [&](int mine) {
    return [&, mine](int call) {
      if (call > 0) return;
      began[mine].open();
      began[1 - mine].wait();
    };
  };
  FakeSource source(/*live=*/false, frames(4));
  FakeClassifier one(meet(0));
  FakeClassifier two(meet(1));
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  run_pipeline(source, lent({&one, &two}), reporting_to(log), {}, stop);
  EXPECT_EQ(log.sequences.size(), 4U);
}

// What watches over the frame loop hears from it by poll() alone. Counts the polls while something
// hangs, for five turns of the loop.
class Polls : public Reporter {
 public:
  void poll() override {
    if (is_inside_) ++polls_;
  }
  void tick(const StatsSnapshot& stats) override {
    if (!stats.final && is_inside_ && ++ticks_ == 5) enough_.open();
  }

  // On another thread than the loop's.
  void hang() {
    is_inside_ = true;
    enough_.wait();
    is_inside_ = false;
  }
  int count() const { return polls_; }

 private:
  std::atomic<bool> is_inside_{false};
  Gate enough_;
  int polls_ = 0;
  int ticks_ = 0;  // turns of the loop
};

// The polls while `source` or one of the classifiers hangs.
int polls_of(Source& source, Classifier& one, Classifier& two, std::unique_ptr<Polls> polls,
             PipelineOptions options) {
  const Polls& counted = *polls;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::move(polls));
  options.stats_interval = std::chrono::milliseconds(1);
  const std::atomic<bool> stop{false};
  run_pipeline(source, lent({&one, &two}), reporters, options, stop);
  return counted.count();
}

TEST(Workers, OneThatDoesNotReturnEndsThePolls) {
  auto polls = std::make_unique<Polls>();
  const auto hang = [&polls = *polls](int /*call*/) { polls.hang(); };
  FakeSource source(/*live=*/false, frames(1));
  FakeClassifier one(hang);
  FakeClassifier two(hang);
  PipelineOptions options;
  options.worker_limit = std::chrono::milliseconds(-1);
  EXPECT_LE(polls_of(source, one, two, std::move(polls), options), 1)
      << "one that had begun before";
}

TEST(Workers, ASourceThatDoesNotReturnEndsThePolls) {
  auto polls = std::make_unique<Polls>();
  FakeSource source(/*live=*/true, [&polls = *polls](int /*read*/, Frame& /*frame*/) {
    polls.hang();
    return ReadStatus::kEnd;
  });
  FakeClassifier one;
  FakeClassifier two;
  PipelineOptions options;
  options.read_limit = std::chrono::milliseconds(-1);
  EXPECT_LE(polls_of(source, one, two, std::move(polls), options), 1)
      << "one that had begun before";
}

TEST(Workers, AFailureIsThrownAfterTheFramesBeforeIt) {
  const auto fail_at_five = [](std::atomic<int>& began) {
    return [&began](int) {
      if (began++ == 5) throw Error(ErrorKind::kBadData, "broken");
    };
  };
  std::atomic<int> began{0};
  FakeSource source(/*live=*/false, frames(100));
  FakeClassifier one(fail_at_five(began));
  FakeClassifier two(fail_at_five(began));
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  EXPECT_THROW(run_pipeline(source, lent({&one, &two}), reporting_to(log), {}, stop), Error);
  // The sixth that begins fails. The other worker may then be three frames ahead, for which there
  // is room, or one behind.
  EXPECT_GE(log.sequences.size(), 2U);
  EXPECT_LE(log.sequences.size(), 6U);
}

TEST(Workers, OneThatFailedTakesNoMoreFrames) {
  Gate another_waits;
  std::atomic<int> began{0};
  FakeClassifier classifier([&](int /*call*/) {
    ++began;
    another_waits.wait();
    throw Error(ErrorKind::kBadData, "broken");
  });
  Latest<Frame> waiting;
  Plan plan;
  PipelineRegion region;
  region.classifiers.push_back(std::make_shared<Lent>(classifier));
  region.model = model_with(classifier.spec().labels);
  plan.regions.push_back(region);
  plan.watches.emplace_back();
  PlanSlot plans(std::move(plan));
  Workers workers({waiting, plans, nullptr, nullptr});
  for (int i = 0; i < 2; ++i) {
    Frame frame;
    fill(frame, i);
    while (!waiting.put_next(frame, kMaxWait)) {
    }
  }
  another_waits.open();
  ClassifiedFrame classified;
  const auto take = [&] {
    while (workers.take(classified, kMaxWait) == TakeStatus::kTimeout) {
    }
  };
  EXPECT_THROW(take(), Error);
  Frame third;
  EXPECT_FALSE(waiting.put_next(third, kMaxWait)) << "the second was taken";
  EXPECT_EQ(began, 1);
}

TEST(Workers, AFailingSourceIsThrownAfterAllItsFrames) {
  FakeSource source(/*live=*/false, [](int read, Frame& frame) {
    if (read == 20) throw Error(ErrorKind::kDeviceLost, "gone");
    return fill(frame, read);
  });
  FakeClassifier one;
  FakeClassifier two;
  FakeReporter::Log log;
  const std::atomic<bool> stop{false};
  EXPECT_THROW(run_pipeline(source, lent({&one, &two}), reporting_to(log), {}, stop), Error);
  EXPECT_EQ(log.sequences.size(), 20U);
}

// Lets the workers go on when the loop has waited in vain while the camera was away.
class Patience : public Reporter {
 public:
  Patience(const std::atomic<bool>& offline, Gate& waited, Gate& told)
      : offline_(offline), waited_(waited), told_(told) {}
  void status(const CameraStatus& /*status*/) override {
    waited_.open();
    told_.open();
  }
  void poll() override {
    if (offline_ && ++turns_ == 3) waited_.open();
  }

 private:
  const std::atomic<bool>& offline_;
  Gate& waited_;
  Gate& told_;
  int turns_ = 0;
};

TEST(Workers, ALossIsToldAfterTheFramesBeforeIt) {
  Gate first_reported;
  Gate began[2];  // the frames that are inside the workers when the camera goes
  Gate waited;
  Gate told;
  std::atomic<int> classifying{0};
  std::atomic<bool> offline{false};
  const auto classify = [&](int /*call*/) {
    const int before = classifying++;
    if (before == 0) return;
    began[before - 1].open();
    waited.wait();
  };
  FakeSource* camera = nullptr;
  FakeSource source(/*live=*/true, [&](int read, Frame& frame) {
    if (read == 1) first_reported.wait();
    if (read == 2) began[0].wait();
    if (read < 3) return fill(frame, 1);
    if (read == 3) {
      began[1].wait();
      camera->set_online(false);
      return ReadStatus::kTimeout;
    }
    offline = true;  // the change before this read was noted
    told.wait();
    return ReadStatus::kEnd;
  });
  camera = &source;

  FakeClassifier one(classify);
  FakeClassifier two(classify);
  FakeReporter::Log log;
  Reporters reporters = reporting_to(log, [&](const Result&) { first_reported.open(); });
  reporters.push_back(std::make_unique<Patience>(offline, waited, told));
  const std::atomic<bool> stop{false};
  run_pipeline(source, lent({&one, &two}), reporters, {}, stop);
  ASSERT_EQ(log.statuses.size(), 1U);
  EXPECT_EQ(log.reported_before, (std::vector<std::size_t>{3}));
  EXPECT_EQ(log.changes, (std::vector<std::string>{"value 1"})) << "no state while it is away";
}

// As under ulimit -u or TasksMax=. Ends the process.
[[noreturn]] void run_with_few_threads() {
  // The limit is one of all processes of a user: other tests run as nobody, too.
  const uid_t user_without_others = 20'000 + static_cast<uid_t>(getpid()) % 40'000;
  const rlimit limit{4, 4};
  if (setuid(user_without_others) != 0 || setrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(1);
  // Without an end, so that no thread ends before the others start.
  FakeSource source(/*live=*/false, [](int, Frame& frame) { return fill(frame, 1); });
  std::vector<std::unique_ptr<Classifier>> classifiers(8);
  for (auto& classifier : classifiers) classifier = std::make_unique<FakeClassifier>();
  const std::atomic<bool> stop{false};
  try {
    run_pipeline(source, classifiers, {}, {}, stop);
  } catch (const Error& error) {
    std::cerr << error.what();
    std::_Exit(error.exit_status());
  }
  std::_Exit(0);
}

TEST(WorkersDeathTest, AThreadThatCannotBeStartedEndsTheRunWithTheWayOut) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to limit the threads of a user without others";
  EXPECT_EXIT(run_with_few_threads(),
              testing::ExitedWithCode(static_cast<int>(ErrorKind::kPermission)),
              "the thread \"worker-[1-8]\" cannot be started: .*; use fewer workers");
}

TEST(Workers, StopAccountsForWhatIsInFlight) {
  FakeSource source(/*live=*/true, [](int read, Frame& frame) { return fill(frame, read % 256); });
  FakeClassifier one;
  FakeClassifier two;
  FakeReporter::Log log;
  std::atomic<bool> stop{false};
  const StatsSnapshot total = run_pipeline(source, lent({&one, &two}),
                                           reporting_to(log,
                                                        [&](const Result& result) {
                                                          if (result.sequence >= 100) stop = true;
                                                        }),
                                           {}, stop);
  EXPECT_EQ(total.captured, total.classified + total.dropped + total.in_flight);
  EXPECT_EQ(total.classified, log.sequences.size());
  EXPECT_TRUE(std::is_sorted(log.sequences.begin(), log.sequences.end()));
}

}  // namespace
}  // namespace lookout

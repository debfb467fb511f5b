#include "pipeline/model/thread_tuner.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace lookout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The time of an inference with a number of threads; `turn` counts the inferences.
using Machine = std::function<milliseconds(int threads, int turn)>;

constexpr auto kTryAll = ThreadTuner::Start::kTryAll;

double all_free() { return 4; }

void start(ThreadTuner& tuner, const Machine& machine) {
  int turns = 0;
  while (tuner.starting()) {
    tuner.record(machine(tuner.threads(), turns));
    ++turns;
  }
}

// The mean time of `count` inferences, in ms.
double run(ThreadTuner& tuner, const Machine& machine, int count) {
  milliseconds sum{};
  for (int turn = 0; turn < count; ++turn) {
    const milliseconds time = machine(tuner.threads(), turn);
    sum += time;
    tuner.record(time);
  }
  return static_cast<double>(sum.count()) / count;
}

milliseconds quiet(int threads, int /*turn*/) { return milliseconds(120 / threads); }
// More threads wait for each other, now and then for long.
milliseconds busy(int threads, int turn) {
  if (threads == 1) return milliseconds(130);
  return milliseconds(turn % 4 == 2 ? 900 : 80);
}

TEST(ThreadTuner, TakesAllProcessorsThatHelp) {
  ThreadTuner tuner(4, kTryAll, all_free, seconds(100));
  start(tuner, quiet);
  EXPECT_EQ(tuner.threads(), 4);
}

TEST(ThreadTuner, TakesTheFewestOfWhatIsAboutAsFast) {
  ThreadTuner tuner(4, kTryAll, all_free, seconds(100));
  start(tuner, [](int threads, int) { return milliseconds(threads == 1 ? 100 : 61 - threads); });
  EXPECT_EQ(tuner.threads(), 2);
}

TEST(ThreadTuner, TakesNoNumberWithSpikes) {
  ThreadTuner tuner(2, kTryAll, all_free, seconds(100));
  // On average faster than one thread, but not steady.
  start(tuner, [](int threads, int turn) {
    if (threads == 1) return milliseconds(100);
    return milliseconds(turn % 3 == 0 ? 160 : 40);
  });
  EXPECT_EQ(tuner.threads(), 1);
}

TEST(ThreadTuner, GivesUpANumberThatTakesVeryLong) {
  ThreadTuner tuner(3, kTryAll, all_free, seconds(100));
  std::array<int, 4> tries{};
  start(tuner, [&](int threads, int) {
    ++tries.at(static_cast<std::size_t>(threads));
    return milliseconds(threads == 2 ? 1000 : 100 / threads);
  });
  EXPECT_EQ(tuner.threads(), 3);
  EXPECT_EQ(tries[2], 1);
}

TEST(ThreadTuner, OneProcessorNeedsNoTrial) {
  const ThreadTuner tuner(1, kTryAll, all_free);
  EXPECT_FALSE(tuner.starting());
  EXPECT_EQ(tuner.threads(), 1);
}

TEST(ThreadTuner, KeepsWithinItsTimeButTriesEveryNumber) {
  ThreadTuner tuner(4, kTryAll, all_free, milliseconds(1200));
  milliseconds sum{};
  start(tuner, [&](int threads, int turn) {
    sum += quiet(threads, turn);
    return quiet(threads, turn);
  });
  EXPECT_EQ(tuner.threads(), 4);
  // The limit may be exceeded by two inferences of each number of threads.
  EXPECT_LE(sum, milliseconds(1200 + 2 * (120 + 60 + 40 + 30)));
}

// Tells how long the trials took, and leaves the tuner's choice.
milliseconds trials_of(ThreadTuner& tuner, const Machine& machine) {
  milliseconds sum{};
  start(tuner, [&](int threads, int turn) {
    sum += machine(threads, turn);
    return machine(threads, turn);
  });
  return sum;
}

TEST(ThreadTuner, TakesAllProcessorsWhenThereIsNoTimeForTrials) {
  ThreadTuner slow(4, kTryAll, all_free, seconds(1), seconds(3), seconds(1));
  EXPECT_FALSE(slow.starting());
  EXPECT_EQ(slow.threads(), 4);
  // Its time is no reason to try one thread, until other programs want the processors.
  run(
      slow, [](int threads, int) { return seconds(4) / threads; }, 100);
  EXPECT_EQ(slow.threads(), 4);
  run(
      slow, [](int threads, int) { return threads == 1 ? seconds(5) : seconds(9); }, 100);
  EXPECT_EQ(slow.threads(), 1);
  const ThreadTuner given(2, ThreadTuner::Start::kMax, all_free, seconds(1), seconds(0),
                          seconds(18));
  EXPECT_FALSE(given.starting());
  EXPECT_EQ(given.threads(), 2);
}

TEST(ThreadTuner, TakesTheBestOfWhatItTriedWhenTheTimeIsOver) {
  const auto scales = [](int threads, int) { return milliseconds(1200 / threads); };
  ThreadTuner all_help(4, kTryAll, all_free, seconds(1), seconds(3), milliseconds(300));
  EXPECT_LE(trials_of(all_help, scales), seconds(3));
  EXPECT_EQ(all_help.threads(), 4);
  const auto none_helps = [](int threads, int) { return milliseconds(300 + 100 * threads); };
  ThreadTuner alone(4, kTryAll, all_free, seconds(1), seconds(6), milliseconds(700));
  EXPECT_LE(trials_of(alone, none_helps), seconds(6));
  EXPECT_EQ(alone.threads(), 1);
}

TEST(ThreadTuner, OneThreadWhileOtherProgramsWantTheProcessors) {
  ThreadTuner tuner(2, kTryAll, all_free, seconds(100));
  start(tuner, quiet);
  ASSERT_EQ(tuner.threads(), 2);
  run(tuner, busy, 100);
  EXPECT_EQ(tuner.threads(), 1);
  // In the long run as good as one thread, the trials of two included.
  EXPECT_LE(run(tuner, busy, 10'000), 1.05 * 130);
  // And back when they are gone: five minutes at 30 frames a second, at most.
  run(tuner, quiet, 9'700);
  EXPECT_EQ(tuner.threads(), 2);
}

TEST(ThreadTuner, StartedOnABusyMachineItFindsTheThreadsLater) {
  ThreadTuner tuner(2, kTryAll, all_free, seconds(100));
  start(tuner, busy);
  ASSERT_EQ(tuner.threads(), 1);
  run(tuner, quiet, 400);
  EXPECT_EQ(tuner.threads(), 2);
}

TEST(ThreadTuner, TriesNoMoreThreadsThanThereAreFreeProcessors) {
  bool free = false;
  ThreadTuner tuner(
      2, kTryAll, [&] { return free ? 2.0 : 1.2; }, seconds(100));
  start(tuner, busy);
  ASSERT_EQ(tuner.threads(), 1);
  int with_more = 0;
  run(
      tuner,
      [&](int threads, int turn) {
        with_more += threads > 1 ? 1 : 0;
        return busy(threads, turn);
      },
      5'000);
  EXPECT_EQ(with_more, 0);
  free = true;
  run(tuner, quiet, 400);
  EXPECT_EQ(tuner.threads(), 2);
}

TEST(ThreadTuner, AGivenNumberIsTheMaximum) {
  ThreadTuner tuner(2, ThreadTuner::Start::kMax, all_free);
  start(tuner, [](int, int) { return milliseconds(100); });
  EXPECT_EQ(tuner.threads(), 2);
  run(
      tuner, [](int, int) { return milliseconds(100); }, 100);
  EXPECT_EQ(tuner.threads(), 2);
  run(tuner, busy, 100);
  EXPECT_EQ(tuner.threads(), 1);
}

TEST(ThreadTuner, AMachineThatBecomesSlowerKeepsItsThreads) {
  ThreadTuner tuner(4, kTryAll, all_free, seconds(100));
  start(tuner, quiet);
  const auto throttled = [](int threads, int turn) { return 5 * quiet(threads, turn); };
  run(tuner, throttled, 1000);
  EXPECT_EQ(tuner.threads(), 4);
}

}  // namespace
}  // namespace lookout

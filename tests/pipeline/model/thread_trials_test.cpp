#include "pipeline/model/thread_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace lookout {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// A machine with a clock of its own. Counts the sessions that are there at a time.
struct TriedMachine {
  std::map<int, milliseconds> inference;  // with so many threads that spin for kSpin
  std::map<microseconds, double> with_spin{{kNoSpin, 1}, {kSpin, 1}, {kLongSpin, 1}};  // relative
  milliseconds load_time{100};

  int best = 0;
  microseconds best_spin{};
  std::vector<int> loaded{};
  std::size_t max_sessions = 1;
  Clock::duration spent{};

  // Returns the number of threads that is kept.
  int choose(int max_threads, Clock::duration limit = seconds(100)) {
    best = max_threads;
    best_spin = kSpin;
    int tried = max_threads;
    microseconds tried_spin = kSpin;
    Clock::time_point now;
    ThreadTrials trials;
    trials.run = [&] {
      now += duration_cast<microseconds>(with_spin.at(tried_spin) * inference.at(tried));
    };
    trials.load = [&](int threads, microseconds spin) {
      now += load_time;
      tried = threads;
      tried_spin = spin;
      loaded.push_back(threads);
      max_sessions = std::max<std::size_t>(
          max_sessions, std::set{std::pair(best, best_spin), {tried, tried_spin}}.size());
    };
    trials.keep = [&] {
      best = tried;
      best_spin = tried_spin;
    };
    trials.now = [&] { return now; };
    try_threads(trials, max_threads, limit, load_time);
    spent = now - Clock::time_point();
    return best;
  }
};

TriedMachine machine(const std::vector<int>& times) {
  TriedMachine made;
  for (std::size_t i = 0; i < times.size(); ++i) {
    made.inference[static_cast<int>(i) + 1] = milliseconds(times[i]);
  }
  return made;
}

TEST(ThreadTrials, TakeTheFewestThreadsOfWhatIsAboutAsFast) {
  EXPECT_EQ(machine({40, 20, 14, 10}).choose(4), 4);
  EXPECT_EQ(machine({40, 11, 14, 10}).choose(4), 2);
  EXPECT_EQ(machine({10, 12, 14, 10}).choose(4), 1);
  EXPECT_EQ(machine({40, 30, 20, 39}).choose(4), 3);
  EXPECT_EQ(machine({100, 60}).choose(2), 2);
  EXPECT_EQ(machine({100}).choose(1), 1);
}

TEST(ThreadTrials, NeedTwoSessionsAtMost) {
  TriedMachine all = machine({40, 30, 20, 10, 12, 14, 16, 18});
  all.choose(8);
  EXPECT_THAT(all.loaded, ElementsAre(1, 2, 3, 4, 5, 6, 7, 4, 4));
  EXPECT_EQ(all.max_sessions, 2U);
}

TEST(ThreadTrials, ThreadsSpinShortlyUnlessAnotherSpinSavesMoreThanATenth) {
  const auto spin = [](double with_none, double with_long) {
    TriedMachine two = machine({20, 10});
    two.with_spin = {{kNoSpin, with_none}, {kSpin, 1}, {kLongSpin, with_long}};
    EXPECT_EQ(two.choose(2), 2);
    return two.best_spin;
  };
  EXPECT_EQ(spin(1.2, 0.95), kSpin);
  EXPECT_EQ(spin(0.95, 1), kSpin);
  EXPECT_EQ(spin(1.2, 0.8), kLongSpin);
  EXPECT_EQ(spin(0.8, 1.5), kNoSpin) << "other programs are busy";
}

TEST(ThreadTrials, OneThreadDoesNotSpin) {
  TriedMachine one = machine({10, 12});
  EXPECT_EQ(one.choose(2), 1);
  EXPECT_THAT(one.loaded, ElementsAre(1));
}

TEST(ThreadTrials, EndInTimeWithLoadingCounted) {
  TriedMachine slow_to_load = machine({40, 20, 14, 10});
  slow_to_load.load_time = seconds(2);
  EXPECT_EQ(slow_to_load.choose(4, seconds(5)), 4);
  EXPECT_EQ(slow_to_load.loaded.size(), 2U);
  EXPECT_LE(slow_to_load.spent, seconds(5));
  // One thread would take longer than there is time for.
  TriedMachine slow = machine({2000, 1000, 700, 500});
  EXPECT_EQ(slow.choose(4, seconds(3)), 4);
  EXPECT_LE(slow.spent, seconds(3));
  TriedMachine late = machine({4, 3, 2, 1});
  EXPECT_EQ(late.choose(4, seconds(0)), 4);
  EXPECT_TRUE(late.loaded.empty());
}

}  // namespace
}  // namespace lookout

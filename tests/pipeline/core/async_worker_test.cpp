#include "pipeline/core/async_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "tests/support/fakes.h"

namespace lookout {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::Pair;

using Numbers = AsyncWorker<int>;
using Seen =
    std::vector<std::pair<int, std::uint64_t>>;  // elements, and the number dropped before each

// Shared by the work and the test. The work waits at a gate for the first element.
struct Shared {
  std::promise<void> started;
  Gate gate;
  std::promise<void> gone;  // when the work was destroyed
  Seen seen;                // the thread's own until it has ended
  std::vector<bool> expired;
};

Numbers::Work gated(const std::shared_ptr<Shared>& shared) {
  return [shared](int& element, const Numbers::Task& task) {
    shared->seen.emplace_back(element, task.dropped());
    if (shared->seen.size() == 1) {
      shared->started.set_value();
      shared->gate.wait();
    }
    shared->expired.push_back(task.expired());
  };
}

TEST(AsyncWorker, WorksOnItsOwnThreadWithSignalsBlocked) {
  std::promise<std::pair<std::string, bool>> told;
  Numbers numbers("a name", [&told](int& /*element*/, const Numbers::Task& /*task*/) {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    told.set_value({name.data(), sigismember(&blocked, SIGTERM) == 1});
  });
  numbers.put(1);
  EXPECT_THAT(told.get_future().get(), Pair("a name", true));
}

TEST(AsyncWorker, TheNewestWaitsAndTheOthersAreDroppedAndCounted) {
  const auto shared = std::make_shared<Shared>();
  Numbers numbers("numbers", gated(shared));
  numbers.put(1);
  shared->started.get_future().wait();
  for (const int element : {2, 3, 4}) numbers.put(element);
  shared->gate.open();
  EXPECT_TRUE(numbers.end_by(Clock::now() + hours(1)));
  EXPECT_THAT(shared->seen, ElementsAre(Pair(1, 0), Pair(4, 2)));
  EXPECT_THAT(shared->expired, ElementsAre(false, false));
}

TEST(AsyncWorker, CountsAgainForEachElement) {
  std::promise<void> done;
  Seen seen;
  Gate first;
  Gate second;
  std::array<std::promise<void>, 2> started;
  Numbers numbers("numbers", [&](int& element, const Numbers::Task& task) {
    seen.emplace_back(element, task.dropped());
    if (seen.size() <= 2) started.at(seen.size() - 1).set_value();
    if (seen.size() == 1) first.wait();
    if (seen.size() == 2) second.wait();
    if (seen.size() == 3) done.set_value();
  });
  numbers.put(1);
  started[0].get_future().wait();
  numbers.put(2);
  numbers.put(3);
  first.open();
  started[1].get_future().wait();
  numbers.put(4);
  second.open();
  done.get_future().wait();
  EXPECT_TRUE(numbers.end_by(Clock::now()));
  EXPECT_THAT(seen, ElementsAre(Pair(1, 0), Pair(3, 1), Pair(4, 0)));
}

TEST(AsyncWorker, AfterTheDeadlineNothingIsBegun) {
  const auto shared = std::make_shared<Shared>();
  {
    Numbers numbers("numbers", [shared](int& element, const Numbers::Task& task) {
      shared->seen.emplace_back(element, task.dropped());
      shared->started.set_value();
      while (!task.expired()) std::this_thread::yield();
    });
    numbers.put(1);
    shared->started.get_future().wait();
    numbers.put(2);
  }
  EXPECT_THAT(shared->seen, ElementsAre(Pair(1, 0)));
}

TEST(AsyncWorker, EndsWithoutWork) {
  Numbers numbers("numbers", [](int& /*element*/, const Numbers::Task& /*task*/) { FAIL(); });
  EXPECT_TRUE(numbers.end_by(Clock::now() + hours(1)));
  EXPECT_TRUE(numbers.end_by(Clock::now())) << "the second call does nothing";
}

TEST(AsyncWorker, AThreadThatDoesNotReturnIsLeftToItself) {
  const auto shared = std::make_shared<Shared>();
  auto gone = shared->gone.get_future();
  {
    std::shared_ptr<void> in_use(nullptr, [shared](void*) { shared->gone.set_value(); });
    Numbers numbers("numbers",
                    [work = gated(shared), in_use = std::move(in_use)](
                        int& element, const Numbers::Task& task) { work(element, task); });
    numbers.put(1);
    shared->started.get_future().wait();
    numbers.put(2);
    EXPECT_FALSE(numbers.end_by(Clock::now()));
    EXPECT_FALSE(numbers.end_by(Clock::now())) << "the second call does nothing";
  }
  shared->gate.open();
  gone.wait();
  EXPECT_THAT(shared->seen, ElementsAre(Pair(1, 0))) << "it begins nothing afterwards";
  EXPECT_THAT(shared->expired, ElementsAre(true));
}

TEST(AsyncWorker, ElementsMayBeMoveOnly) {
  std::promise<int> told;
  AsyncWorker<std::unique_ptr<int>> pointers(
      "pointers",
      [&told](std::unique_ptr<int>& element, const auto& /*task*/) { told.set_value(*element); });
  pointers.put(std::make_unique<int>(7));
  EXPECT_EQ(told.get_future().get(), 7);
}

}  // namespace
}  // namespace lookout

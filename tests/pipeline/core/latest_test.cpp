#include "pipeline/core/latest.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAtOnce{0};
constexpr milliseconds kLong{60'000};

TEST(Latest, GivesWhatWasPutAndSwapsInsteadOfCopying) {
  Latest<std::string> latest;
  std::string mine(100, 'a');
  const char* memory = mine.data();
  latest.put_newest(mine);
  std::string yours;
  ASSERT_EQ(latest.take(yours, kAtOnce), TakeStatus::kTaken);
  EXPECT_EQ(yours, std::string(100, 'a'));
  EXPECT_EQ(yours.data(), memory);
}

TEST(Latest, ReplacesTheOldElementNotTheNewOneAndCounts) {
  Latest<int> latest;
  for (int i = 1; i <= 3; ++i) {
    int element = i;
    latest.put_newest(element);
  }
  int taken = 0;
  ASSERT_EQ(latest.take(taken, kAtOnce), TakeStatus::kTaken);
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(latest.dropped(), 2U);
}

TEST(Latest, AnElementIsTakenOnce) {
  Latest<int> latest;
  int element = 1;
  latest.put_newest(element);
  ASSERT_EQ(latest.take(element, kAtOnce), TakeStatus::kTaken);
  EXPECT_EQ(latest.take(element, kAtOnce), TakeStatus::kTimeout);
}

TEST(Latest, PutNextNeverReplaces) {
  Latest<int> latest;
  int first = 1;
  int second = 2;
  ASSERT_TRUE(latest.put_next(first, kAtOnce));
  EXPECT_FALSE(latest.put_next(second, kAtOnce));
  EXPECT_EQ(second, 2);
  int taken = 0;
  ASSERT_EQ(latest.take(taken, kAtOnce), TakeStatus::kTaken);
  EXPECT_EQ(taken, 1);
  EXPECT_TRUE(latest.put_next(second, kAtOnce));
  EXPECT_EQ(latest.dropped(), 0U);
}

TEST(Latest, WhatIsInTheSlotCanBeTakenAfterClosing) {
  Latest<int> latest;
  int element = 7;
  latest.put_newest(element);
  latest.close();
  int taken = 0;
  EXPECT_EQ(latest.take(taken, kAtOnce), TakeStatus::kTaken);
  EXPECT_EQ(taken, 7);
  EXPECT_EQ(latest.take(taken, kAtOnce), TakeStatus::kClosed);
}

TEST(Latest, ClosingWakesATaker) {
  Latest<int> latest;
  std::thread closer([&] { latest.close(); });
  int taken = 0;
  EXPECT_EQ(latest.take(taken, kLong), TakeStatus::kClosed);
  closer.join();
}

TEST(Latest, NothingIsLostBetweenThreads) {
  Latest<int> latest;
  constexpr int kCount = 20'000;
  std::thread producer([&] {
    for (int i = 1; i <= kCount; ++i) {
      int element = i;
      while (!latest.put_next(element, kLong)) {
      }
    }
    latest.close();
  });
  int expected = 0;
  int taken = 0;
  while (latest.take(taken, kLong) == TakeStatus::kTaken) ASSERT_EQ(taken, ++expected);
  EXPECT_EQ(expected, kCount);
  producer.join();
}

TEST(Latest, TakenAndReplacedAddUpBetweenThreads) {
  Latest<int> latest;
  constexpr int kCount = 20'000;
  std::thread producer([&] {
    for (int i = 1; i <= kCount; ++i) {
      int element = i;
      latest.put_newest(element);
    }
    latest.close();
  });
  std::uint64_t count = 0;
  int last = 0;
  int taken = 0;
  while (latest.take(taken, kLong) == TakeStatus::kTaken) {
    ASSERT_GT(taken, last);
    last = taken;
    ++count;
  }
  producer.join();
  EXPECT_EQ(last, kCount);
  EXPECT_EQ(count + latest.dropped(), static_cast<std::uint64_t>(kCount));
}

TEST(Latest, AnInterruptEndsOneWaitAndLosesNothing) {
  Latest<int> latest;
  int element = 1;
  std::thread interrupter([&latest] { latest.interrupt(); });
  EXPECT_EQ(latest.take(element, kLong), TakeStatus::kTimeout);
  interrupter.join();
  EXPECT_EQ(latest.take(element, kAtOnce), TakeStatus::kTimeout);
  latest.put_newest(element);
  latest.interrupt();
  EXPECT_EQ(latest.take(element, kAtOnce), TakeStatus::kTaken);
  latest.close();
  latest.interrupt();
  EXPECT_EQ(latest.take(element, kLong), TakeStatus::kClosed);
}

}  // namespace
}  // namespace lookout

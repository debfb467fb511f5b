#include "platform/http/background_work.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace lookout {
namespace {

constexpr std::size_t kWaiting = 4;

class BackgroundWorkTest : public testing::Test {
 protected:
  BackgroundWorkTest() {
    work_.set_wake([this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++woken_;
      changed_.notify_all();
    });
  }
  ~BackgroundWorkTest() override {
    open_gate();
    work_.set_wake({});
  }

  // Work that begins when the gate is open.
  BackgroundWork::Request numbered(int number) {
    return {[this, number] {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return open_; });
      workers_.push_back(std::this_thread::get_id());
      return [this, number] { delivered_.push_back(number); };
    }};
  }
  void open_gate() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Waits until so many were done, and takes what they came to.
  void deliver(int count) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this, count] { return woken_ >= count; });
    }
    work_.deliver();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int woken_ = 0;
  std::vector<std::thread::id> workers_;
  std::vector<int> delivered_;
  BackgroundWork work_{"work", kWaiting};
};

TEST_F(BackgroundWorkTest, AnswersComeInOrderAndOnTheThreadThatAsksForThem) {
  open_gate();
  EXPECT_TRUE(work_.put(numbered(1)));
  EXPECT_TRUE(work_.put(numbered(2)));
  EXPECT_TRUE(delivered_.empty());
  deliver(2);
  EXPECT_EQ(delivered_, (std::vector<int>{1, 2}));
  EXPECT_NE(workers_[0], std::this_thread::get_id());
  EXPECT_EQ(workers_[0], workers_[1]);
}

TEST_F(BackgroundWorkTest, AFloodWaitsInBoundsAndIsRefused) {
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += work_.put(numbered(i)) ? 1 : 0;
  EXPECT_GE(taken, static_cast<int>(kWaiting));
  EXPECT_LE(taken, static_cast<int>(kWaiting) + 1) << "one may be under way";
  open_gate();
  deliver(taken);
  EXPECT_EQ(delivered_.size(), static_cast<std::size_t>(taken));
  EXPECT_TRUE(work_.put(numbered(100))) << "there is room again";
  deliver(taken + 1);
  EXPECT_EQ(delivered_.back(), 100);
}

TEST_F(BackgroundWorkTest, WhatNobodyWaitsForIsNotDone) {
  const auto gone = std::make_shared<const std::atomic<bool>>(true);
  open_gate();
  for (int i = 0; i < 100; ++i) {
    BackgroundWork::Request abandoned = numbered(i);
    abandoned.gone = gone;
    EXPECT_TRUE(work_.put(std::move(abandoned))) << i;
  }
  EXPECT_TRUE(work_.put(numbered(100)));
  deliver(1);
  EXPECT_EQ(delivered_, std::vector<int>{100});
}

TEST_F(BackgroundWorkTest, TheEndDropsWhatWaits) {
  for (std::size_t i = 0; i < kWaiting; ++i) work_.put(numbered(0));
}

}  // namespace
}  // namespace lookout

#include "platform/http/password_checker.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "platform/system/password.h"

namespace lookout {
namespace {

class PasswordCheckerTest : public testing::Test {
 protected:
  PasswordCheckerTest() {
    checker_.set_wake([this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++woken_;
      changed_.notify_all();
    });
  }
  ~PasswordCheckerTest() override { checker_.set_wake({}); }

  bool put(const std::string& password) {
    return checker_.put({password, hash_, [this](bool right) { answers_.push_back(right); }});
  }
  // Waits until so many were checked, and takes their answers.
  void deliver(int count) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this, count] { return woken_ >= count; });
    }
    checker_.deliver();
  }

  static const std::string& hash() {
    static const std::string hash = hash_password("correct horse");
    return hash;
  }

  const std::string& hash_ = hash();
  std::mutex mutex_;
  std::condition_variable changed_;
  int woken_ = 0;
  std::vector<bool> answers_;
  PasswordChecker checker_;
};

TEST_F(PasswordCheckerTest, AnswersComeInOrderAndOnTheThreadThatAsksForThem) {
  EXPECT_TRUE(put("correct horse"));
  EXPECT_TRUE(put("wrong horse"));
  EXPECT_TRUE(answers_.empty());
  deliver(2);
  EXPECT_EQ(answers_, (std::vector<bool>{true, false}));
}

TEST_F(PasswordCheckerTest, AFloodWaitsInBoundsAndIsRefused) {
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += put("wrong horse") ? 1 : 0;
  EXPECT_GE(taken, static_cast<int>(PasswordChecker::kMaxWaiting));
  EXPECT_LT(taken, 100);
  deliver(taken);
  EXPECT_EQ(answers_, std::vector<bool>(static_cast<std::size_t>(taken), false));
  EXPECT_TRUE(put("correct horse")) << "there is room again";
  deliver(taken + 1);
  EXPECT_TRUE(answers_.back());
}

TEST_F(PasswordCheckerTest, TheAnswersOfClientsThatHaveGoneAreNotComputed) {
  const auto gone = std::make_shared<const std::atomic<bool>>(true);
  bool asked = false;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(checker_.put({"x", hash_, [&asked](bool) { asked = true; }, gone})) << i;
  }
  EXPECT_TRUE(put("correct horse"));
  deliver(1);
  EXPECT_EQ(answers_, std::vector<bool>{true});
  EXPECT_FALSE(asked);
}

TEST_F(PasswordCheckerTest, TheEndDropsWhatWaits) {
  for (std::size_t i = 0; i < PasswordChecker::kMaxWaiting; ++i) put("wrong horse");
}

}  // namespace
}  // namespace lookout

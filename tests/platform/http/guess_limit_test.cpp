#include "platform/http/guess_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace lookout {
namespace {

using std::chrono::seconds;

const Clock::time_point kNow{std::chrono::hours(1)};

TEST(GuessLimit, AfterTenWrongTokensAnAddressHasToWait) {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) {
    EXPECT_FALSE(limit.wait("a", kNow)) << i;
    limit.count_wrong("a", kNow);
  }
  EXPECT_EQ(limit.wait("a", kNow), seconds(6));
  EXPECT_EQ(limit.wait("a", kNow + std::chrono::milliseconds(5500)), seconds(1));
  EXPECT_FALSE(limit.wait("b", kNow));
}

TEST(GuessLimit, ThenOneGuessComesBackAfterTheOther) {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) limit.count_wrong("a", kNow);
  const auto later = kNow + GuessLimit::kPause;
  EXPECT_FALSE(limit.wait("a", later));
  limit.count_wrong("a", later);
  EXPECT_TRUE(limit.wait("a", later));
  EXPECT_FALSE(limit.wait("a", later + GuessLimit::kPause));
}

TEST(GuessLimit, OneWrongTokenNowAndThenIsNoGuessing) {
  GuessLimit limit;
  for (int i = 0; i < 1000; ++i) {
    limit.count_wrong("a", kNow + i * seconds(15));
    EXPECT_FALSE(limit.wait("a", kNow + i * seconds(15)));
  }
}

TEST(GuessLimit, ManyAddressesDoNotFreeTheOneThatGuesses) {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) limit.count_wrong("a", kNow);
  for (std::size_t i = 0; i < 3 * GuessLimit::kMaxAddresses; ++i) {
    limit.count_wrong(std::to_string(i), kNow);
  }
  EXPECT_TRUE(limit.wait("a", kNow));
}

}  // namespace
}  // namespace lookout

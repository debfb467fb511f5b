#include "platform/http/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace lookout {
namespace {

using std::chrono::seconds;

constexpr int kBurst = 10;
constexpr seconds kPause{6};
const Clock::time_point kTried{std::chrono::hours(1)};

TEST(RateLimit, AfterTenWrongTokensAnAddressHasToWait) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) {
    EXPECT_FALSE(limit.wait("a", kTried)) << i;
    limit.count("a", kTried);
  }
  EXPECT_EQ(limit.wait("a", kTried), seconds(6));
  EXPECT_EQ(limit.wait("a", kTried + std::chrono::milliseconds(5500)), seconds(1));
  EXPECT_FALSE(limit.wait("b", kTried));
}

TEST(RateLimit, ThenOneGuessComesBackAfterTheOther) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) limit.count("a", kTried);
  const auto later = kTried + kPause;
  EXPECT_FALSE(limit.wait("a", later));
  limit.count("a", later);
  EXPECT_TRUE(limit.wait("a", later));
  EXPECT_FALSE(limit.wait("a", later + kPause));
}

TEST(RateLimit, OneWrongTokenNowAndThenIsNoGuessing) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < 1000; ++i) {
    limit.count("a", kTried + i * seconds(15));
    EXPECT_FALSE(limit.wait("a", kTried + i * seconds(15)));
  }
}

TEST(RateLimit, ManyAddressesDoNotFreeTheOneThatGuesses) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) limit.count("a", kTried);
  for (std::size_t i = 0; i < 3 * RateLimit::kMaxAddresses; ++i) {
    limit.count(std::to_string(i), kTried);
  }
  EXPECT_TRUE(limit.wait("a", kTried));
}

}  // namespace
}  // namespace lookout

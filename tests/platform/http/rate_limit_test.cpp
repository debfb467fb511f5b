#include "platform/http/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace lookout {
namespace {

using std::chrono::seconds;

constexpr int kBurst = 10;
constexpr seconds kPause{6};
const Clock::time_point kNow{std::chrono::hours(1)};

TEST(RateLimit, AfterTenWrongTokensAnAddressHasToWait) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) {
    EXPECT_FALSE(limit.wait("a", kNow)) << i;
    limit.count("a", kNow);
  }
  EXPECT_EQ(limit.wait("a", kNow), seconds(6));
  EXPECT_EQ(limit.wait("a", kNow + std::chrono::milliseconds(5500)), seconds(1));
  EXPECT_FALSE(limit.wait("b", kNow));
}

TEST(RateLimit, ThenOneGuessComesBackAfterTheOther) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) limit.count("a", kNow);
  const auto later = kNow + kPause;
  EXPECT_FALSE(limit.wait("a", later));
  limit.count("a", later);
  EXPECT_TRUE(limit.wait("a", later));
  EXPECT_FALSE(limit.wait("a", later + kPause));
}

TEST(RateLimit, OneWrongTokenNowAndThenIsNoGuessing) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < 1000; ++i) {
    limit.count("a", kNow + i * seconds(15));
    EXPECT_FALSE(limit.wait("a", kNow + i * seconds(15)));
  }
}

TEST(RateLimit, ManyAddressesDoNotFreeTheOneThatGuesses) {
  RateLimit limit(kBurst, kPause);
  for (int i = 0; i < kBurst; ++i) limit.count("a", kNow);
  for (std::size_t i = 0; i < 3 * RateLimit::kMaxAddresses; ++i) {
    limit.count(std::to_string(i), kNow);
  }
  EXPECT_TRUE(limit.wait("a", kNow));
}

}  // namespace
}  // namespace lookout

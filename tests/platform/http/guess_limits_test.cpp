#include "platform/http/guess_limits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const Clock::time_point kMorning{hours(1)};
const std::string kOwner = "192.0.2.7";

// Tries a password if that is allowed.
bool guess(GuessLimits& limits, const std::string& address, Clock::time_point now) {
  if (limits.refusal(address, now)) return false;
  limits.count(address, now);
  return true;
}

int guess_all(GuessLimits& limits, const std::string& address, Clock::time_point now) {
  int guesses = 0;
  while (guesses < 1000 && guess(limits, address, now)) ++guesses;
  return guesses;
}

std::vector<std::string> strangers(int count) {
  std::vector<std::string> addresses;
  addresses.reserve(count);
  for (int i = 0; i < count; ++i) addresses.push_back("2001:db8::" + std::to_string(i) + "/64");
  return addresses;
}

// Each of them tries as often as it may, from kMorning on. Returns how many guesses that were.
int attack(GuessLimits& limits, const std::vector<std::string>& addresses, seconds time) {
  constexpr seconds kStep{4};  // of which all pauses are multiples
  int guesses = 0;
  for (seconds passed{0}; passed < time; passed += kStep) {
    for (const std::string& address : addresses) {
      guesses += guess_all(limits, address, kMorning + passed);
    }
  }
  return guesses;
}

TEST(GuessLimits, AnAddressAndAllTogetherAreLimited) {
  GuessLimits limits;
  EXPECT_EQ(guess_all(limits, "a", kMorning), GuessLimits::kOfAddress);
  EXPECT_FALSE(limits.refusal("a", kMorning)->of_all);
  EXPECT_EQ(limits.refusal("a", kMorning)->wait, GuessLimits::kAddressPause);
  EXPECT_EQ(guess_all(limits, "b", kMorning), GuessLimits::kOfAddress);
  EXPECT_EQ(guess_all(limits, "c", kMorning), GuessLimits::kOfAddress);
  EXPECT_EQ(guess_all(limits, "d", kMorning), 0);
  EXPECT_TRUE(limits.refusal("d", kMorning)->of_all);
  EXPECT_EQ(limits.refusal("d", kMorning)->wait, GuessLimits::kAllPause);
}

TEST(GuessLimits, FewAddressesLockNobodyOut) {
  for (const int count : {3, 7}) {
    GuessLimits limits;
    attack(limits, strangers(count), hours(1));
    EXPECT_FALSE(limits.refusal(kOwner, kMorning + hours(1))) << count;
  }
}

TEST(GuessLimits, ManyAddressesDoNotLockOutOneThatKnewThePassword) {
  GuessLimits limits;
  limits.count(kOwner, kMorning);
  limits.note_right(kOwner, kMorning);
  attack(limits, strangers(200), hours(1));
  const auto now = kMorning + hours(1) - seconds(4);
  EXPECT_TRUE(limits.refusal("192.0.2.8", now)) << "one that did not";
  EXPECT_EQ(guess_all(limits, kOwner, now), GuessLimits::kReserve);
  EXPECT_TRUE(limits.refusal(kOwner, now));
  EXPECT_FALSE(limits.refusal(kOwner, now + GuessLimits::kReservePause)) << "one came back";
  EXPECT_TRUE(limits.refusal(kOwner, now));
}

TEST(GuessLimits, AnAddressIsKnownForAMonth) {
  GuessLimits limits;
  limits.note_right(kOwner, kMorning);
  const auto later = kMorning + GuessLimits::kKnownFor;
  for (const std::string& address : strangers(3)) guess_all(limits, address, later);
  EXPECT_TRUE(limits.refusal(kOwner, later));
}

TEST(GuessLimits, OnlyTheLastOnesAreKnown) {
  GuessLimits limits;
  limits.note_right(kOwner, kMorning);
  for (std::size_t i = 1; i <= GuessLimits::kMaxKnown; ++i) {
    limits.note_right(std::to_string(i), kMorning + seconds(i));
  }
  const auto now = kMorning + hours(1);
  for (const std::string& address : strangers(3)) guess_all(limits, address, now);
  EXPECT_TRUE(limits.refusal(kOwner, now));
  EXPECT_FALSE(limits.refusal("1", now));
}

TEST(GuessLimits, ADayHasNoMoreGuessesThanTheLimitForAllOnceGave) {
  GuessLimits limits;
  std::vector<std::string> addresses = strangers(40);
  for (std::size_t i = 0; i < GuessLimits::kMaxKnown; ++i) {
    addresses.push_back(std::to_string(i));
    limits.note_right(addresses.back(), kMorning);
  }
  EXPECT_LE(attack(limits, addresses, hours(24)), 13'104 + 70);
}

TEST(GuessLimits, ClientsOfAUnixSocketHaveTheLimitOfAllAlone) {
  GuessLimits limits;
  limits.note_right("", kMorning);
  EXPECT_EQ(guess_all(limits, "", kMorning), GuessLimits::kOfAll);
  EXPECT_TRUE(limits.refusal("", kMorning)->of_all);
}

}  // namespace
}  // namespace lookout

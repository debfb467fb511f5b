// How many passwords may be tried: guessing is slow, and yet few strangers lock no owner out.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"
#include "platform/http/rate_limit.h"

namespace lookout {

// Right passwords count, too. An address (an IPv6 /64 is one) may try kOfAddress, then one every
// kAddressPause; all together kOfAll, then one every kAllPause. More than seven addresses that go
// on for ever use that up. An address from which a right password came within kKnownFor then still
// has kReserve, one of which comes back every kReservePause; the last kMaxKnown of these are known.
//
// A day has at most 10,800 guesses by all and 8 * 288 by known addresses, 13,104, besides the 70
// with which it begins.
//
// Clients of a Unix socket (an empty address) are not told apart: they have the limit of all alone.
// No clock is read. Used by one thread.
class GuessLimits {
 public:
  static constexpr int kOfAddress = 10;
  static constexpr std::chrono::seconds kAddressPause{60};
  static constexpr int kOfAll = 30;
  static constexpr std::chrono::seconds kAllPause{8};
  static constexpr int kReserve = 5;
  static constexpr std::chrono::minutes kReservePause{5};
  static constexpr std::size_t kMaxKnown = 8;
  static constexpr std::chrono::hours kKnownFor{30 * 24};

  struct Refusal {
    std::chrono::seconds wait{};
    bool of_all = false;  // too many came from all together; false: from the address
  };

  // Whether the address may not try a password now.
  std::optional<Refusal> refusal(const std::string& address, Clock::time_point now) const;
  // A password came from the address.
  void count(const std::string& address, Clock::time_point now);
  // It was the right one.
  void note_right(const std::string& address, Clock::time_point now);

 private:
  std::optional<Refusal> common_refusal(const std::string& address, Clock::time_point now) const;
  bool has_reserve(const std::string& address, Clock::time_point now) const;

  RateLimit of_address_{kOfAddress, kAddressPause};
  RateLimit of_all_{kOfAll, kAllPause};
  RateLimit reserves_{kReserve, kReservePause};
  std::map<std::string, Clock::time_point> known_;  // since when
};

}  // namespace lookout

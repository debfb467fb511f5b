// How often an address may do something, and which refused addresses the log names.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"

namespace lookout {

// A token bucket for each address: it has `burst` uses, and gets one back every `pause`. Used by
// one thread.
class RateLimit {
 public:
  static constexpr std::size_t kMaxAddresses = 1024;  // then the one with most uses left goes

  RateLimit(int burst, Clock::duration pause) : burst_(burst), pause_(pause) {}

  // How long `address` has to wait; empty: it need not.
  std::optional<std::chrono::seconds> wait(const std::string& address, Clock::time_point now) const;
  // `address` has one use less.
  void count(const std::string& address, Clock::time_point now);

 private:
  const int burst_;
  const Clock::duration pause_;
  std::map<std::string, Clock::time_point> full_;  // when an address has all its uses again
};

// An address is named once when it begins to be refused, and once when it is let in again. It
// begins anew after kForget without a refusal. There are at most kLines of the first kind at once,
// and then one every kPause. Used by one thread.
class RefusalLog {
 public:
  static constexpr std::size_t kMaxAddresses = 1024;  // then the one refused longest ago goes
  static constexpr std::chrono::minutes kForget{1};
  static constexpr int kLines = 60;
  static constexpr std::chrono::minutes kPause{1};

  // `address` is refused. Returns whether to log it.
  bool refuse(const std::string& address, Clock::time_point now);
  // `address` is let in. Returns whether to log that it is let in again.
  bool let_in(const std::string& address);

 private:
  struct Refused {
    Clock::time_point last;
    bool logged = false;
    bool let_in = false;
  };

  std::map<std::string, Refused> refused_;
  RateLimit lines_{kLines, kPause};
};

}  // namespace lookout

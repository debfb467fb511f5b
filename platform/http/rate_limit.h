// How often an address may do something.
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

}  // namespace lookout

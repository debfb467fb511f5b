// How often an address may guess the token of the HTTP server.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "pipeline/frame.h"

namespace lookout {

// An address has kGuesses wrong tokens, and gets one back every kPause. When it has none left, its
// tokens are not looked at, so that it does not learn which one is right. Used by one thread.
class GuessLimit {
 public:
  static constexpr int kGuesses = 10;
  static constexpr std::chrono::seconds kPause{6};
  static constexpr std::size_t kMaxAddresses = 1024;  // then the one with most guesses left goes

  // How long `address` has to wait; empty: it need not.
  std::optional<std::chrono::seconds> wait(const std::string& address, Clock::time_point now) const;
  // `address` sent a wrong token.
  void count_wrong(const std::string& address, Clock::time_point now);

 private:
  std::map<std::string, Clock::time_point> full_;  // when an address has all its guesses again
};

}  // namespace lookout

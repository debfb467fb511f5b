// Which refused addresses the log names.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "pipeline/core/frame.h"
#include "platform/http/rate_limit.h"

namespace lookout {

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

// The time zone of a test.
#pragma once

#include <time.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace lookout {

// This process's, until its destruction. Not while other threads convert times.
class ScopedTimeZone {
 public:
  // Central Europe's by its rule, whether or not the machine knows the names of zones.
  static constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

  explicit ScopedTimeZone(const char* zone = kBerlin) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    setenv("TZ", zone, 1);
    tzset();
  }
  ~ScopedTimeZone() {
    if (before_) {
      setenv("TZ", before_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  ScopedTimeZone(const ScopedTimeZone&) = delete;
  ScopedTimeZone& operator=(const ScopedTimeZone&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace lookout

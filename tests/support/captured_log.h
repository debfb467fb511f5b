// The log, kept for a test. Apart from its implementation, since spdlog takes seconds to compile.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace lookout {

// Keeps the lines that are logged while it lives, from level info on, and then puts the logger back
// that was there before.
class CapturedLog {
 public:
  CapturedLog();
  ~CapturedLog();
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  // Lines of level debug are kept, too.
  void keep_debug() const;

  std::string text() const;
  // Waits until the log holds `part`.
  void wait_for(std::string_view part) const;

 private:
  class Sink;

  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace lookout

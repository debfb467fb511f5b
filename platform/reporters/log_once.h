// Warnings that would come again and again.
#pragma once

#include <spdlog/spdlog.h>

#include <set>
#include <string>

namespace lookout {

// Logs each warning the first time only. Used by one thread at a time.
class LogOnce {
 public:
  void warn(const std::string& text) {
    if (logged_.insert(text).second) spdlog::warn("{}; this is logged once", text);
  }

 private:
  std::set<std::string> logged_;
};

}  // namespace lookout

// Warnings that would come again and again.
#pragma once

#include <set>
#include <string>

#include "pipeline/core/log.h"

namespace lookout {

// Logs each warning the first time only. Used by one thread at a time.
class LogOnce {
 public:
  void warn(const std::string& text) {
    if (logged_.insert(text).second) log_warn("{}; this is logged once", text);
  }

 private:
  std::set<std::string> logged_;
};

}  // namespace lookout

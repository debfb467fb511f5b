// Warnings that would come again and again.
#pragma once

#include <set>
#include <string>

#include "pipeline/core/log.h"

namespace lookout {

// Logs each warning the first time only, until forget(). Used by one thread at a time.
class LogOnce {
 public:
  void warn(const std::string& text) {
    if (logged_.insert(text).second) log_warn("{}; this is logged once", text);
  }

  // What failed works again: the next failure is logged. Returns whether anything was logged.
  bool forget() {
    const bool logged = !logged_.empty();
    logged_.clear();
    return logged;
  }

 private:
  std::set<std::string> logged_;
};

}  // namespace lookout

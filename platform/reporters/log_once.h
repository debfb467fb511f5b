// Warnings that would come again and again.
#pragma once

#include <set>
#include <string>

#include "pipeline/core/log.h"

namespace lookout {

// Logs each warning the first time only, until forget() or kWell times worked(). Used by one thread
// at a time.
class LogOnce {
 public:
  // On a disk that is all but full each second attempt may fail, which must not fill the journal.
  static constexpr int kWell = 3;

  void warn(const std::string& text) {
    in_a_row_ = 0;
    if (logged_.insert(text).second) log_warn("{}; this is logged once", text);
  }

  // What may fail worked. After kWell times in a row the failures are over: the next one is logged.
  // Returns whether they are over now and anything was logged of them.
  bool worked() { return !logged_.empty() && ++in_a_row_ == kWell && forget(); }

  // What failed works again: the next failure is logged. Returns whether anything was logged.
  bool forget() {
    const bool logged = !logged_.empty();
    logged_.clear();
    in_a_row_ = 0;
    return logged;
  }

 private:
  std::set<std::string> logged_;
  int in_a_row_ = 0;  // times worked() since the last warning
};

}  // namespace lookout

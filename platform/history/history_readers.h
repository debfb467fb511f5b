// Who reads a history while a run writes it.
#pragma once

#include <atomic>

namespace lookout {

// Any thread.
class HistoryReaders {
 public:
  // Somebody reads now: what waits to be written is to be.
  void note() { asked_ = true; }
  // Whether somebody has read since the last call.
  bool take() { return asked_.exchange(false); }

 private:
  std::atomic<bool> asked_{false};
};

}  // namespace lookout

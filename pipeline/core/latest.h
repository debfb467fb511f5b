// The double buffer between two threads.
//
// One thread puts, one thread takes. Each keeps a private element of its own and swaps it with the
// slot in between: elements are reused for ever, and the lock covers the swap alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "pipeline/core/mutex.h"

namespace lookout {

// Upper bound of each wait in the frame loop, unless the source is idle: a stop flag is seen within
// this time.
inline constexpr std::chrono::milliseconds kMaxWait{100};

enum class TakeStatus { kTaken, kTimeout, kClosed };

// T: default-constructible, with a cheap swap().
template <typename T>
class Latest {
 public:
  // Swaps `element` into the slot at once. An element that is still there is older and was never
  // taken: it is dropped (returned in `element`) and counted.
  void put_newest(T& element) {
    {
      const MutexLock lock(mutex_);
      if (full_) ++dropped_;
      fill(element);
    }
    filled_.notify_one();
  }

  // Swaps `element` into the slot once the one before was taken. Returns false, with nothing done,
  // when that did not happen within `timeout`.
  bool put_next(T& element, std::chrono::milliseconds timeout) {
    {
      const MutexLock lock(mutex_);
      const auto deadline = std::chrono::steady_clock::now() + timeout;
      while (full_) {
        if (!emptied_.wait_until(mutex_, deadline) && full_) return false;
      }
      fill(element);
    }
    filled_.notify_one();
    return true;
  }

  // No more elements will be put. What is in the slot can still be taken.
  void close() {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    filled_.notify_one();
  }

  // The take() that waits, or else the next one, does not wait any longer. Any thread.
  void interrupt() {
    {
      const MutexLock lock(mutex_);
      interrupted_ = true;
    }
    filled_.notify_one();
  }

  // Swaps the slot's element into `element`, waiting for one at most `timeout`, or until it is
  // interrupted, which is a kTimeout, too.
  TakeStatus take(T& element, std::chrono::milliseconds timeout) {
    {
      const MutexLock lock(mutex_);
      const auto deadline = std::chrono::steady_clock::now() + timeout;
      while (!full_ && !closed_ && !interrupted_) {
        if (!filled_.wait_until(mutex_, deadline)) break;
      }
      interrupted_ = false;
      if (!full_) return closed_ ? TakeStatus::kClosed : TakeStatus::kTimeout;
      using std::swap;
      swap(element, slot_);
      full_ = false;
    }
    emptied_.notify_one();
    return TakeStatus::kTaken;
  }

  // Whether take() would have one at once. Any thread.
  bool has_element() const {
    const MutexLock lock(mutex_);
    return full_;
  }

  // How many elements put_newest() has dropped so far. Any thread.
  std::uint64_t dropped() const {
    const MutexLock lock(mutex_);
    return dropped_;
  }

 private:
  void fill(T& element) REQUIRES(mutex_) {
    using std::swap;
    swap(element, slot_);
    full_ = true;
  }

  mutable Mutex mutex_;
  ConditionVariable filled_;
  ConditionVariable emptied_;
  T slot_ GUARDED_BY(mutex_){};
  bool full_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool interrupted_ GUARDED_BY(mutex_) = false;
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
};

}  // namespace lookout

// A mutex whose discipline clang checks at compile time: members say which mutex guards them, and
// `-Wthread-safety` refuses an access without it. Other compilers see std::mutex and no attributes.
//
//   Mutex mutex_;
//   int count_ GUARDED_BY(mutex_) = 0;
//
//   { const MutexLock lock(mutex_); ++count_; }
//
// The attributes: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define LOOKOUT_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define LOOKOUT_THREAD_ATTRIBUTE(x)
#endif

// A member that is accessed only while the mutex is held.
#define GUARDED_BY(mutex) LOOKOUT_THREAD_ATTRIBUTE(guarded_by(mutex))
// A function whose caller holds the mutex.
#define REQUIRES(...) LOOKOUT_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
// A function that takes the mutex itself: its caller must not hold it.
#define EXCLUDES(...) LOOKOUT_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// A function that the analysis cannot follow; a comment says why it is right.
#define NO_THREAD_SAFETY_ANALYSIS LOOKOUT_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace lookout {

class LOOKOUT_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() LOOKOUT_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() LOOKOUT_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a mutex while it lives.
class LOOKOUT_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LOOKOUT_THREAD_ATTRIBUTE(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() LOOKOUT_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable for a Mutex. Waiting gives the mutex up and takes it again before it
// returns. There are no predicates, which the analysis cannot follow into: callers wait in a loop.
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // Returns false when `deadline` has passed.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point deadline) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace lookout

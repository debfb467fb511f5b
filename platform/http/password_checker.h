// Checks the passwords of clients on a thread of its own: that takes long, on purpose.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/core/mutex.h"

namespace lookout {

// The thread "password", which has a low priority, checks one after the other.
class PasswordChecker {
 public:
  static constexpr std::size_t kMaxWaiting = 4;

  struct Request {
    std::string password;
    std::string hash;
    std::function<void(bool right)> done;
    std::shared_ptr<const std::atomic<bool>> gone{};  // nobody waits any more; null: somebody does
  };

  // Throws Error(kPermission) when the system allows no further thread.
  PasswordChecker();
  // Drops what waits. A check that is under way is waited for.
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  // `wake` is called by the thread when deliver() has something to do.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);
  // Returns false when as many as allowed wait. Those whose clients have gone are dropped.
  bool put(Request request) EXCLUDES(mutex_);
  // Calls what put() was given, for the requests that are done.
  void deliver() EXCLUDES(mutex_);

 private:
  struct Finished {
    std::function<void(bool)> done;
    bool right;
  };

  void run() EXCLUDES(mutex_);
  void drop_abandoned() REQUIRES(mutex_);

  Mutex mutex_;
  ConditionVariable changed_;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  std::deque<Request> waiting_ GUARDED_BY(mutex_);
  std::vector<Finished> finished_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace lookout

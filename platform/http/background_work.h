// Slow work for clients, on a thread of its own: the server's thread does not wait for it.
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

// The thread, which has a low priority, does one work after the other.
class BackgroundWork {
 public:
  // Hands over what the work came to.
  using Deliver = std::function<void()>;

  struct Request {
    std::function<Deliver()> work;                    // the thread's; must not throw
    std::shared_ptr<const std::atomic<bool>> gone{};  // nobody waits any more; null: somebody does
  };

  // `name` is the thread's, at most 15 bytes. Throws Error(kPermission) when the system allows no
  // further thread.
  BackgroundWork(const std::string& name, std::size_t max_waiting);
  // Drops what waits. Work that is under way is waited for.
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // `wake` is called by the thread when deliver() has something to do.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);
  // Returns false when as many as allowed wait. Those whose clients have gone are dropped.
  bool put(Request request) EXCLUDES(mutex_);
  // Calls what the work returned that is done.
  void deliver() EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  void drop_abandoned() REQUIRES(mutex_);

  const std::size_t max_waiting_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  std::deque<Request> waiting_ GUARDED_BY(mutex_);
  std::vector<Deliver> finished_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace lookout

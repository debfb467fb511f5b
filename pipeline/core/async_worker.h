// An asynchronous worker: it runs work on its own thread, so that the frame loop does not wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/thread.h"

namespace lookout {

// The thread works on one element at a time and has all signals blocked. During the work the newest
// element waits; older ones are dropped and counted.
template <typename T>
class AsyncWorker {
 private:
  class Mailbox;

 public:
  // The time that the thread has, after the deadline of end_by(), to notice it.
  static constexpr std::chrono::seconds kGrace{1};

  // The work on one element, as its thread sees it.
  class Task {
   public:
    // How many elements were dropped since the element before this one.
    std::uint64_t dropped() const { return dropped_; }
    // Whether the deadline of end_by() has passed. The work then has to return.
    bool expired() const { return mailbox_.expired(); }

   private:
    friend class AsyncWorker;
    Task(Mailbox& mailbox, std::uint64_t dropped) : mailbox_(mailbox), dropped_(dropped) {}

    Mailbox& mailbox_;
    std::uint64_t dropped_;
  };

  // Must not throw. It must own all that it uses: work that does not return in time outlives the
  // AsyncWorker.
  using Work = std::function<void(T&, const Task&)>;

  // `name` is the thread's, at most 15 bytes.
  AsyncWorker(const std::string& name, Work work)
      : thread_(start_thread(
            name, [mailbox = mailbox_, work = std::move(work)] { mailbox->work_on_all(work); })) {}
  // As end_by() with a deadline of now, unless that was called before.
  ~AsyncWorker() { end_by(Clock::now()); }
  AsyncWorker(const AsyncWorker&) = delete;
  AsyncWorker& operator=(const AsyncWorker&) = delete;

  // Never waits for the work. Any thread; not after end_by().
  void put(T element) { mailbox_->put(std::move(element)); }

  // Waits until the thread has finished its work, including the waiting element if that work begins
  // before `deadline`. Returns true when the thread has ended. Detaches a thread that is still
  // busy kGrace after the deadline and returns false. Called by the thread that owns this.
  bool end_by(Clock::time_point deadline) {
    if (!thread_.joinable()) return ended_;
    ended_ = mailbox_->end(deadline);
    if (ended_) {
      thread_.join();
    } else {
      thread_.detach();
    }
    return ended_;
  }

 private:
  // Shared with the thread, which may be detached.
  class Mailbox {
   public:
    void put(T element) {
      {
        const MutexLock lock(mutex_);
        if (waiting_) ++dropped_;
        waiting_ = std::move(element);
      }
      changed_.notify_all();
    }

    bool expired() {
      const MutexLock lock(mutex_);
      return is_over();
    }

    // Returns whether the thread has ended.
    bool end(Clock::time_point deadline) {
      const MutexLock lock(mutex_);
      deadline_ = deadline;
      changed_.notify_all();
      while (!ended_) {
        if (!changed_.wait_until(mutex_, deadline + kGrace)) break;
      }
      return ended_;
    }

    void work_on_all(const Work& work) {
      std::uint64_t dropped = 0;
      while (std::optional<T> element = next(dropped)) work(*element, Task(*this, dropped));
      const MutexLock lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }

   private:
    // Waits for an element; returns nothing when there will be none.
    std::optional<T> next(std::uint64_t& dropped) {
      const MutexLock lock(mutex_);
      while (!waiting_ && !deadline_) changed_.wait(mutex_);
      if (!waiting_ || is_over()) return std::nullopt;
      dropped = std::exchange(dropped_, 0);
      return std::exchange(waiting_, std::nullopt);
    }

    bool is_over() const REQUIRES(mutex_) { return deadline_ && Clock::now() >= *deadline_; }

    Mutex mutex_;
    ConditionVariable changed_;
    std::optional<T> waiting_ GUARDED_BY(mutex_);
    std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;  // since the last next()
    std::optional<Clock::time_point> deadline_ GUARDED_BY(mutex_);
    bool ended_ GUARDED_BY(mutex_) = false;
  };

  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace lookout

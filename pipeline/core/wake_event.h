// Ends the wait of another thread, from a signal handler, too.
#pragma once

#include "pipeline/core/frame.h"

namespace lookout {

// One thread waits, any may wake it. A wake() is kept for the next wait.
class WakeEvent {
 public:
  WakeEvent();  // throws Error(kPermission) when the process has too many files open
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // Any thread, and a signal handler.
  void wake() const noexcept;
  // Returns after `timeout`, or when it is woken.
  void wait(Clock::duration timeout) const;

  // For poll() of several descriptors: readable after wake(), until clear().
  int fd() const { return fd_; }
  void clear() const;

 private:
  int fd_;
};

// Waits until `wake` is woken, at most `timeout`. Null: it sleeps.
void wait_for(const WakeEvent* wake, Clock::duration timeout);

}  // namespace lookout

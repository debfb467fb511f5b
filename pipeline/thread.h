// Threads of ours: named, and never the one that a signal interrupts.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <string>
#include <thread>
#include <utility>

namespace lookout {

// Threads that the calling thread starts while this lives take no signals: those are for the
// program's own. The calling thread takes none meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// `name`: at most 15 bytes; the thread has it before `body` runs. `body` must not throw.
template <typename Body>
std::thread start_thread(const std::string& name, Body body) {
  const SignalsBlocked blocked;  // a thread inherits the mask
  return std::thread([name, body = std::move(body)]() mutable {
    pthread_setname_np(pthread_self(), name.c_str());
    body();
  });
}

}  // namespace lookout

// Named threads that no signal interrupts.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "pipeline/core/error.h"

namespace lookout {

// Blocks all signals for the calling thread while it lives, and for the threads that the calling
// thread starts meanwhile: a thread inherits the mask.
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

// Starts a thread with all signals blocked. `name`: at most 15 bytes; the thread has it before
// `body` runs. `body` must not throw. Throws Error(kPermission) when the system allows no further
// thread.
template <typename Body>
std::thread start_thread(const std::string& name, Body body) {
  const SignalsBlocked blocked;
  try {
    return std::thread([name, body = std::move(body)]() mutable {
      pthread_setname_np(pthread_self(), name.c_str());
      body();
    });
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::kPermission,
                "the thread \"" + name + "\" cannot be started: " + error.code().message() +
                    "; use fewer workers, or allow more threads (ulimit -u, or in a service "
                    "TasksMax=)");
  }
}

}  // namespace lookout

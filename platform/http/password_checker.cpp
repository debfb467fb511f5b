#include "platform/http/password_checker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/core/thread.h"
#include "pipeline/run/scheduling.h"
#include "platform/system/password.h"

namespace lookout {

PasswordChecker::PasswordChecker() {
  thread_ = start_thread("password", [this] { run(); });
}

PasswordChecker::~PasswordChecker() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PasswordChecker::set_wake(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void PasswordChecker::drop_abandoned() {
  waiting_.erase(
      std::remove_if(waiting_.begin(), waiting_.end(),
                     [](const Request& request) { return request.gone && *request.gone; }),
      waiting_.end());
}

bool PasswordChecker::put(Request request) {
  {
    const MutexLock lock(mutex_);
    drop_abandoned();
    if (waiting_.size() >= kMaxWaiting) return false;
    waiting_.push_back(std::move(request));
  }
  changed_.notify_all();
  return true;
}

void PasswordChecker::deliver() {
  std::vector<Finished> finished;
  {
    const MutexLock lock(mutex_);
    finished.swap(finished_);
  }
  for (const Finished& each : finished) each.done(each.right);
}

void PasswordChecker::run() {
  lower_this_thread_priority();
  for (;;) {
    std::optional<Request> request;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty() && !stop_) changed_.wait(mutex_);
      if (stop_) return;
      request = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (request->gone && *request->gone) continue;
    const bool right = is_password(request->password, request->hash);
    const MutexLock lock(mutex_);
    finished_.push_back({std::move(request->done), right});
    if (wake_) wake_();
  }
}

}  // namespace lookout

#include "platform/http/background_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/core/thread.h"
#include "pipeline/run/scheduling.h"

namespace lookout {

BackgroundWork::BackgroundWork(const std::string& name, std::size_t max_waiting)
    : max_waiting_(max_waiting) {
  thread_ = start_thread(name, [this] { run(); });
}

BackgroundWork::~BackgroundWork() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWork::set_wake(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void BackgroundWork::drop_abandoned() {
  waiting_.erase(
      std::remove_if(waiting_.begin(), waiting_.end(),
                     [](const Request& request) { return request.gone && *request.gone; }),
      waiting_.end());
}

bool BackgroundWork::put(Request request) {
  {
    const MutexLock lock(mutex_);
    drop_abandoned();
    if (waiting_.size() >= max_waiting_) return false;
    waiting_.push_back(std::move(request));
  }
  changed_.notify_all();
  return true;
}

void BackgroundWork::deliver() {
  std::vector<Deliver> finished;
  {
    const MutexLock lock(mutex_);
    finished.swap(finished_);
  }
  for (const Deliver& each : finished) each();
}

void BackgroundWork::run() {
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
    Deliver deliver = request->work();
    const MutexLock lock(mutex_);
    finished_.push_back(std::move(deliver));
    if (wake_) wake_();
  }
}

}  // namespace lookout

#include "pipeline/model/start_log.h"

#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/thread.h"

namespace lookout {

StartLog::StartLog(std::string model, std::string step, Clock::duration delay)
    : model_(std::move(model)),
      delay_(delay),
      step_(std::move(step)),
      deadline_(Clock::now() + delay) {
  thread_ = start_thread("start-log", [this] { run(); });
}

StartLog::~StartLog() {
  {
    const MutexLock lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StartLog::begin(std::string step) {
  {
    const MutexLock lock(mutex_);
    step_ = std::move(step);
    if (deadline_) return;  // of this step, too, if the ones before were short
    deadline_ = Clock::now() + delay_;
  }
  changed_.notify_one();
}

void StartLog::run() {
  const MutexLock lock(mutex_);
  while (!is_done_) {
    if (!deadline_) {
      changed_.wait(mutex_);
    } else if (!changed_.wait_until(mutex_, *deadline_) && !is_done_) {
      log_info("model {}: its start takes long; it {}", model_, step_);
      deadline_.reset();
    }
  }
}

}  // namespace lookout

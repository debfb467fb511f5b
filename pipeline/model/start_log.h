// Says in the log what a model's start is busy with, when it takes long.
#pragma once

#include <optional>
#include <string>
#include <thread>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"

namespace lookout {

// A thread of its own logs a line once `delay` has passed, and then one for each further step that
// takes as long.
class StartLog {
 public:
  // `model`: its name; `step`: what is done: "is being loaded".
  StartLog(std::string model, std::string step, Clock::duration delay = std::chrono::seconds(2));
  ~StartLog();
  StartLog(const StartLog&) = delete;
  StartLog& operator=(const StartLog&) = delete;

  // The step before is done, and this one begins.
  void begin(std::string step) EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);

  const std::string model_;
  const Clock::duration delay_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::string step_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> deadline_ GUARDED_BY(mutex_);  // of the next line
  bool is_done_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace lookout

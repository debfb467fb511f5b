// Tells what a camera shows looks like, before a model is trained, and keeps the embeddings that a
// training needs.
#pragma once

#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/async_worker.h"
#include "pipeline/core/mutex.h"
#include "platform/teach/teach_trainer.h"
#include "platform/teach/training_order.h"

namespace lookout {

// The work is done by a process of low priority (`lookout preview-taught`), which starts with the
// first look, ends by itself half a minute after the last one, and with this. A thread of this,
// "preview", talks to it. For any threads.
class TaughtPreviewer {
 public:
  // `command`: starts the process.
  explicit TaughtPreviewer(std::vector<std::string> command);
  ~TaughtPreviewer();
  TaughtPreviewer(const TaughtPreviewer&) = delete;
  TaughtPreviewer& operator=(const TaughtPreviewer&) = delete;

  // Returns at once; newest() tells later. The newest look counts. `order`: of the pictures so far;
  // those without embeddings get them, a few with each look. `bgr`: as TeachTrainer::look().
  void look(TrainingOrder order, cv::Mat bgr) EXCLUDES(mutex_);

  // Nothing: nobody has looked at the watch, or the watch before it was another one.
  std::optional<TeachLook> newest(const std::string& watch) const;

  // Ends the process: a training is to have the processor and the memory. Returns at once.
  void stop() EXCLUDES(mutex_);

 private:
  struct Turn {
    std::optional<TrainingOrder> order;  // nothing: the process ends
    cv::Mat bgr;
  };
  class Desk;

  const std::shared_ptr<Desk> desk_;
  Mutex mutex_;
  std::unique_ptr<AsyncWorker<Turn>> worker_ GUARDED_BY(mutex_);  // null: nobody has looked yet
};

}  // namespace lookout

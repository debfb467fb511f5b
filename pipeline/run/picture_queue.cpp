#include "pipeline/run/picture_queue.h"

#include <algorithm>
#include <utility>

namespace lookout {

std::optional<Result> PictureQueue::classify(const cv::Mat& bgr, const std::string& watch) {
  Picture picture{bgr, watch, Clock::now()};
  {
    const MutexLock lock(mutex_);
    if (closed_) return std::nullopt;
    queue_.push_back(&picture);
    waiting_ = queue_.size();
    if (wake_) wake_();
    while (!picture.done && (picture.taken || !closed_)) picture.changed.wait(mutex_);
    if (!picture.taken) queue_.erase(std::find(queue_.begin(), queue_.end(), &picture));
    waiting_ = queue_.size();
  }
  if (picture.error) std::rethrow_exception(picture.error);
  if (picture.result) picture.result->frame_age = Clock::now() - picture.since;
  return std::move(picture.result);
}

void PictureQueue::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  wake_ = nullptr;
  for (Picture* picture : queue_) picture->changed.notify_one();
}

void PictureQueue::set_wake(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

PictureQueue::Picture* PictureQueue::take() {
  const MutexLock lock(mutex_);
  if (queue_.empty() || closed_) return nullptr;
  Picture* picture = queue_.front();
  queue_.pop_front();
  waiting_ = queue_.size();
  picture->taken = true;
  last_taken_ = Clock::now();
  return picture;
}

void PictureQueue::answer(Picture& picture, std::optional<Result> result,
                          std::exception_ptr error) {
  const MutexLock lock(mutex_);
  picture.result = std::move(result);
  picture.error = std::move(error);
  picture.done = true;
  picture.changed.notify_one();  // with the lock held: the picture is gone soon after
}

bool PictureQueue::classify_waiting(PictureClassifier& classifier) {
  if (!is_waiting()) return false;
  Picture* picture = take();
  if (picture == nullptr) return false;
  std::optional<Result> result;
  std::exception_ptr error;
  try {
    ClassifiedFrame classified;
    classified.frame.bgr = picture->bgr;
    classifier.classify(picture->watch, classified);
    result = std::move(classified.result);
  } catch (...) {
    error = std::current_exception();
  }
  // Who asked is the last one that has the exception.
  answer(*picture, std::move(result), std::move(error));
  return true;
}

void PictureQueue::classify_overdue(PictureClassifier& classifier) {
  if (!is_waiting()) return;
  {
    const MutexLock lock(mutex_);
    if (queue_.empty()) return;
    if (Clock::now() - std::max(queue_.front()->since, last_taken_) < kMaxWait) return;
  }
  if (classify_waiting(classifier)) ++displaced_;
}

}  // namespace lookout

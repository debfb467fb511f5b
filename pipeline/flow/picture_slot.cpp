#include "pipeline/flow/picture_slot.h"

#include <utility>

namespace lookout {

std::optional<Result> PictureSlot::classify(const cv::Mat& bgr) {
  const auto start = Clock::now();
  const MutexLock lock(mutex_);
  if (closed_) return std::nullopt;
  bgr_ = bgr;
  since_ = start;
  phase_ = Phase::kWaiting;
  waiting_ = true;
  if (wake_) wake_();
  while (phase_ == Phase::kTaken || (phase_ == Phase::kWaiting && !closed_)) done_.wait(mutex_);
  waiting_ = false;
  phase_ = Phase::kEmpty;
  bgr_.release();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  std::optional<Result> result = std::exchange(result_, std::nullopt);
  if (result) result->frame_age = Clock::now() - start;
  return result;
}

void PictureSlot::close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    wake_ = nullptr;
  }
  done_.notify_one();
}

void PictureSlot::set_wake(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

bool PictureSlot::take(cv::Mat& bgr) {
  const MutexLock lock(mutex_);
  if (phase_ != Phase::kWaiting || closed_) return false;
  phase_ = Phase::kTaken;
  waiting_ = false;
  bgr = std::move(bgr_);
  return true;
}

void PictureSlot::answer(std::optional<Result> result, std::exception_ptr error) {
  {
    const MutexLock lock(mutex_);
    phase_ = Phase::kDone;
    result_ = std::move(result);
    error_ = std::move(error);
  }
  done_.notify_one();
}

bool PictureSlot::classify_waiting(Classifier& classifier) {
  ClassifiedFrame picture;
  if (!waiting_ || !take(picture.frame.bgr)) return false;
  try {
    FrameClassifier(classifier, View{}, top_k_, threshold_).classify(picture);
    answer(std::move(picture.result), nullptr);
  } catch (...) {
    answer(std::nullopt, std::current_exception());
  }
  return true;
}

void PictureSlot::classify_overdue(Classifier& classifier) {
  if (!waiting_) return;
  {
    const MutexLock lock(mutex_);
    if (phase_ != Phase::kWaiting || Clock::now() - since_ < kMaxWait) return;
  }
  if (classify_waiting(classifier)) ++displaced_;
}

}  // namespace lookout

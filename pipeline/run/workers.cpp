#include "pipeline/run/workers.h"

#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/thread.h"

namespace lookout {

Workers::Workers(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace,
                 FrameSelector* selector, PictureQueue* pictures)
    : frames_(frames),
      classifiers_(std::move(classifiers)),
      trace_(trace),
      selector_(selector),
      pictures_(pictures),
      workers_(classifiers_.size()),
      slots_(workers_),
      running_(workers_) {
  threads_.reserve(workers_);
  try {
    for (std::size_t i = 0; i < workers_; ++i) {
      threads_.push_back(
          start_thread("worker-" + std::to_string(i + 1), [this, i] { run(classifiers_[i]); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

void Workers::run(FrameClassifier& classifier) {
  std::optional<FrameClassifier> picture_classifier;
  if (pictures_ != nullptr)
    picture_classifier.emplace(
        pictures_->make_classifier(classifier.classifier(), classifier.model()));
  ClassifiedFrame classified;
  std::uint64_t ticket = 0;
  while (true) {
    if (picture_classifier) pictures_->classify_overdue(*picture_classifier);
    const TakeStatus status = take_frame(classified, ticket);
    if (status == TakeStatus::kClosed) break;
    if (status == TakeStatus::kTimeout) {
      if (picture_classifier) pictures_->classify_waiting(*picture_classifier);
      continue;
    }
    std::exception_ptr error;
    try {
      if (!classified.result.reused) classifier.classify(classified, trace_);
    } catch (...) {
      error = std::current_exception();
    }
    if (!put(ticket, classified, error) || error) break;
  }
  {
    const MutexLock lock(mutex_);
    --running_;
  }
  filled_.notify_one();
}

TakeStatus Workers::take_frame(ClassifiedFrame& classified, std::uint64_t& ticket) {
  const MutexLock taking(taking_);
  {
    const MutexLock lock(mutex_);
    if (stop_) return TakeStatus::kClosed;
  }
  const bool picture_waits = pictures_ != nullptr && pictures_->is_waiting();
  const TakeStatus status =
      take_chosen(frames_, picture_waits ? std::chrono::milliseconds(0) : kMaxWait, selector_,
                  trace_, classified);
  if (status == TakeStatus::kTaken) ticket = next_ticket_++;
  return status;
}

bool Workers::put(std::uint64_t ticket, ClassifiedFrame& classified, std::exception_ptr error) {
  {
    const MutexLock lock(mutex_);
    while (!stop_ && ticket >= next_result_ + workers_) emptied_.wait(mutex_);
    if (stop_) return false;
    Slot& mine = slot(ticket);
    std::swap(mine.classified, classified);
    mine.error = std::move(error);
    mine.full = true;
  }
  filled_.notify_one();
  return true;
}

TakeStatus Workers::take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
  {
    const MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    Slot& next = slot(next_result_);
    while (!next.full && running_ > 0) {
      const bool in_time = filled_.wait_until(mutex_, deadline);
      if (!in_time && !next.full && running_ > 0) return TakeStatus::kTimeout;
    }
    if (!next.full) return TakeStatus::kClosed;
    if (next.error) std::rethrow_exception(next.error);
    std::swap(next.classified, classified);
    next.full = false;
    ++next_result_;
  }
  emptied_.notify_all();
  return TakeStatus::kTaken;
}

void Workers::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  emptied_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace lookout

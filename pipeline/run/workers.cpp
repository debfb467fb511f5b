#include "pipeline/run/workers.h"

#include <string>
#include <utility>

#include "pipeline/core/thread.h"

namespace lookout {

Workers::Workers(const FrameFeed& feed, PictureQueue* pictures)
    : feed_(feed),
      pictures_(pictures),
      workers_(feed.plans.current()->regions.front().classifiers.size()),
      slots_(workers_),
      running_(workers_) {
  threads_.reserve(workers_);
  try {
    for (std::size_t i = 0; i < workers_; ++i) {
      threads_.push_back(start_thread("worker-" + std::to_string(i + 1), [this, i] { run(i); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

void Workers::run(std::size_t number) {
  PlanPtr plan = feed_.plans.current();
  ThreadPlan mine(number, pictures_);
  mine.use(plan);
  ClassifiedFrame classified;
  std::uint64_t ticket = 0;
  while (true) {
    if (pictures_ != nullptr) pictures_->classify_overdue(mine.pictures());
    const TakeStatus status = take_frame(plan, classified, ticket);
    if (status == TakeStatus::kClosed) break;
    mine.use(plan);
    if (status == TakeStatus::kTimeout) {
      if (pictures_ != nullptr) pictures_->classify_waiting(mine.pictures());
      continue;
    }
    std::exception_ptr error;
    try {
      if (!classified.result.reused) mine.classify(classified, feed_.trace);
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

TakeStatus Workers::take_frame(PlanPtr& plan, ClassifiedFrame& classified, std::uint64_t& ticket) {
  const MutexLock taking(taking_);
  {
    const MutexLock lock(mutex_);
    if (stop_) return TakeStatus::kClosed;
  }
  const bool picture_waits = pictures_ != nullptr && pictures_->is_waiting();
  const TakeStatus status =
      take_chosen(feed_, picture_waits ? std::chrono::milliseconds(0) : kMaxWait, plan, classified);
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
    next.classified.plan.reset();  // no plan is kept for a frame that may never come
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

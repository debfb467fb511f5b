#include "pipeline/run/workers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/core/thread.h"

namespace lookout {

// Each worker may have a frame, and one more that waits for those before it.
Workers::Workers(const FrameFeed& feed, PictureQueue* pictures)
    : feed_(feed),
      pictures_(pictures),
      workers_(feed.plans.current()->regions.front().classifiers.size()),
      slots_(2 * workers_),
      running_(workers_),
      busy_(workers_) {
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
  while (true) {
    classify_picture(number, mine, /*overdue=*/true);
    Work work;
    const TakeStatus status = take_work(plan, work);
    if (status == TakeStatus::kClosed) break;
    mine.use(plan);
    if (status == TakeStatus::kTimeout) {
      classify_picture(number, mine, /*overdue=*/false);
      continue;
    }
    classify(number, mine, work);
    finish(work);
    if (work.error) break;
  }
  {
    const MutexLock lock(mutex_);
    --running_;
  }
  completed_.notify_one();
}

void Workers::note_busy(std::size_t number, std::optional<Clock::time_point> since) {
  const MutexLock lock(mutex_);
  busy_[number] = since;
}

bool Workers::hangs(Clock::time_point now, std::chrono::milliseconds limit) {
  const MutexLock lock(mutex_);
  return std::any_of(busy_.begin(), busy_.end(),
                     [&](const auto& since) { return since && now - *since > limit; });
}

void Workers::classify_picture(std::size_t number, ThreadPlan& with, bool overdue) {
  if (pictures_ == nullptr || !pictures_->is_waiting()) return;
  note_busy(number, Clock::now());
  if (overdue) {
    pictures_->classify_overdue(with.pictures());
  } else {
    pictures_->classify_waiting(with.pictures());
  }
  note_busy(number, std::nullopt);
}

// While a worker waits for a frame, nothing is left of the one before: who waits for `taking_`
// misses nothing.
TakeStatus Workers::take_work(PlanPtr& plan, Work& work) {
  const MutexLock taking(taking_);
  {
    const MutexLock lock(mutex_);
    while (!stop_ && !has_rest_ && next_ticket_ == next_result_ + slots_.size()) {
      emptied_.wait(mutex_);
    }
    if (stop_) return TakeStatus::kClosed;
    work.slot = has_rest_ ? newest_ : &slot(next_ticket_);
    if (has_rest_) {
      if (plan != newest_->plan) plan = newest_->plan;
      begin_results(work);
      return TakeStatus::kTaken;
    }
  }
  const TakeStatus status = take_frame(plan, work);
  if (status != TakeStatus::kTaken) return status;
  ++next_ticket_;
  const MutexLock lock(mutex_);
  newest_ = work.slot;
  newest_->begun = 1;
  work.count = newest_->results.front().result.reused ? 0 : 1;
  begin_results(work);
  if (work.error) leave_rest();  // nobody else is to decode it
  return TakeStatus::kTaken;
}

// Pixels of a frame that several workers may classify are made here. They count as the camera's, as
// those that its source has made.
TakeStatus Workers::take_frame(PlanPtr& plan, Work& work) {
  Slot& slot = *work.slot;
  const bool picture_waits = pictures_ != nullptr && pictures_->is_waiting();
  const TakeStatus status =
      take_chosen(feed_, picture_waits ? std::chrono::milliseconds(0) : kMaxWait, plan, slot.frame,
                  slot.results.front());
  if (status != TakeStatus::kTaken) return status;
  slot.plan = plan;
  slot.results.resize(std::max(slot.results.size(), plan->regions.size()));
  if (feed_.selector != nullptr && feed_.selector->classifies_several()) {
    const auto start = Clock::now();
    try {
      decode_for_model(slot.frame);
    } catch (...) {
      work.error = std::current_exception();
    }
    const Clock::duration passed = Clock::now() - start;
    slot.frame.capture_duration += passed;
    slot.results.front().result.durations.capture += passed;  // if it is reused
    slot.results.front().result.durations.total += passed;
  }
  return status;
}

// Up to the first region that is to be classified, and those that share its inference.
void Workers::begin_results(Work& work) {
  FrameSelector* const selector = feed_.selector;
  Slot& slot = *work.slot;
  has_rest_ = selector != nullptr && selector->has_next();
  while (has_rest_ && (work.count == 0 || selector->next_shares())) {
    ClassifiedRegion& next = slot.results[slot.begun++];
    begin_result(*selector->next(slot.frame), slot.frame, next);
    if (!next.result.reused) ++work.count;
    has_rest_ = selector->has_next();
  }
  work.first = slot.begun - work.count;
  ++slot.working;
}

void Workers::classify(std::size_t number, ThreadPlan& with, Work& work) {
  Slot& slot = *work.slot;
  try {
    for (; work.done < work.count && !work.error; ++work.done) {
      note_busy(number, Clock::now());
      with.classify(slot.frame, slot.results[work.first + work.done], feed_.trace);
    }
  } catch (...) {
    work.error = std::current_exception();
  }
  note_busy(number, std::nullopt);
}

void Workers::finish(const Work& work) {
  bool is_next = false;
  {
    const MutexLock lock(mutex_);
    Slot& mine = *work.slot;
    --mine.working;
    const std::size_t failed = work.first + work.done;
    if (work.error && (!mine.error || failed < mine.failed)) {
      mine.error = work.error;
      mine.failed = failed;
    }
    const bool leaves =
        work.error ? newest_ == &mine : feed_.live && work.count > 0 && feed_.frames.has_element();
    if (leaves) leave_rest();
    is_next = is_complete(slot(next_result_));
  }
  if (is_next) completed_.notify_one();
}

void Workers::leave_rest() {
  if (!has_rest_) return;
  feed_.selector->leave_rest();
  has_rest_ = false;
}

bool Workers::is_complete(const Slot& slot) const {
  return slot.begun > 0 && slot.working == 0 && !(has_rest_ && &slot == newest_);
}

TakeStatus Workers::take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
  {
    const MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    Slot& next = slot(next_result_);
    while (!is_complete(next) && running_ > 0) {
      const bool in_time = completed_.wait_until(mutex_, deadline);
      if (!in_time && !is_complete(next) && running_ > 0) return TakeStatus::kTimeout;
    }
    if (!is_complete(next)) return TakeStatus::kClosed;
    if (next.error && next_part_ == next.failed) std::rethrow_exception(next.error);
    if (next_part_ == 0) {
      std::swap(next.frame, classified.frame);
      std::swap(next.plan, classified.plan);
      next.plan.reset();  // no plan is kept for a frame that may never come
    }
    std::swap<ClassifiedRegion>(next.results[next_part_++], classified);
    classified.is_last = next_part_ == next.begun;
    if (!classified.is_last) return TakeStatus::kTaken;
    next.begun = 0;
    next_part_ = 0;
    ++next_result_;
  }
  emptied_.notify_one();
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

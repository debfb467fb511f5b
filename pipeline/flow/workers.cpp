#include "pipeline/flow/workers.h"

#include <string>
#include <utility>

#include "pipeline/thread.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kLongestWait{100};

}  // namespace

Workers::Workers(Latest<Frame>& frames, const std::vector<Classifier*>& classifiers,
                 const PipelineOptions& options)
    : frames_(frames), slots_(classifiers.size()), running_(classifiers.size()) {
  classifiers_.reserve(classifiers.size());
  for (Classifier* classifier : classifiers) classifiers_.emplace_back(*classifier, options);
  for (std::size_t i = 0; i < classifiers_.size(); ++i) {
    threads_.push_back(
        start_thread("worker-" + std::to_string(i + 1), [this, i] { run(classifiers_[i]); }));
  }
}

void Workers::run(FrameClassifier& classifier) {
  ClassifiedFrame classified;
  std::uint64_t ticket = 0;
  while (true) {
    const TakeStatus status = take_frame(classified, ticket);
    if (status == TakeStatus::kClosed) break;
    if (status == TakeStatus::kTimeout) continue;
    std::exception_ptr error;
    try {
      classifier.classify(classified);
    } catch (...) {
      error = std::current_exception();
    }
    if (!put(ticket, classified, error) || error) break;
  }
  {
    const std::lock_guard lock(mutex_);
    --running_;
  }
  filled_.notify_one();
}

TakeStatus Workers::take_frame(ClassifiedFrame& classified, std::uint64_t& ticket) {
  const std::lock_guard taking(taking_);
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return TakeStatus::kClosed;
  }
  const TakeStatus status = frames_.take(classified.frame, kLongestWait);
  if (status == TakeStatus::kTaken) ticket = next_ticket_++;
  return status;
}

bool Workers::put(std::uint64_t ticket, ClassifiedFrame& classified, std::exception_ptr error) {
  {
    std::unique_lock lock(mutex_);
    emptied_.wait(lock, [&] { return stop_ || ticket < next_result_ + slots_.size(); });
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
    std::unique_lock lock(mutex_);
    Slot& next = slot(next_result_);
    if (!filled_.wait_for(lock, timeout, [&] { return next.full || running_ == 0; })) {
      return TakeStatus::kTimeout;
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
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  emptied_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace lookout

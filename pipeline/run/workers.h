// Classifies several frames at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "pipeline/core/mutex.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/picture_queue.h"
#include "pipeline/run/thread_plan.h"

namespace lookout {

// One thread for each classifier of the only region, "worker-1" and on, with signals blocked. Each
// takes a frame as soon as it is idle. Results come in the order of the frames. Another plan counts
// from one frame on, whichever worker takes it.
class Workers {
 public:
  // `pictures` (null: none) outlives it. Nothing else takes from `feed` or `pictures`. Throws
  // Error(kPermission) when the system allows no further thread.
  explicit Workers(const FrameFeed& feed, PictureQueue* pictures = nullptr);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Swaps the next result into `classified`, waiting for it at most `timeout`. kClosed: `frames`
  // was closed and all of them were classified. Throws what classifying the next frame threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout);

  // Waits for the inferences under way and joins the threads. Results that were not taken are lost.
  void stop();

 private:
  struct Slot {
    ClassifiedFrame classified;
    std::exception_ptr error;
    bool full = false;
  };

  void run(std::size_t number);
  TakeStatus take_frame(PlanPtr& plan, ClassifiedFrame& classified, std::uint64_t& ticket);
  // Returns false when stopped.
  bool put(std::uint64_t ticket, ClassifiedFrame& classified, std::exception_ptr error);
  Slot& slot(std::uint64_t ticket) REQUIRES(mutex_) { return slots_[ticket % workers_]; }

  const FrameFeed feed_;
  PictureQueue* const pictures_;
  const std::size_t workers_;

  Mutex taking_;  // held while one of the idle workers waits for a frame
  std::uint64_t next_ticket_ GUARDED_BY(taking_) = 0;  // tickets number the frames

  Mutex mutex_;
  ConditionVariable filled_;
  ConditionVariable emptied_;
  // Results of the tickets next_result_ .. next_result_ + workers_ - 1.
  std::vector<Slot> slots_ GUARDED_BY(mutex_);
  std::uint64_t next_result_ GUARDED_BY(mutex_) = 0;
  std::size_t running_ GUARDED_BY(mutex_);  // workers
  bool stop_ GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace lookout

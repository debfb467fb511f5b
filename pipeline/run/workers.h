// Classifies several frames, and several regions of a frame, at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/core/mutex.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/picture_queue.h"
#include "pipeline/run/thread_plan.h"

namespace lookout {

// One thread for each classifier of a region, "worker-1" and on, with signals blocked. An idle one
// takes the next region of the newest frame; if all of them are taken, the next frame. Regions that
// share an inference are taken together. Of a live source, what is left of a frame is left for good
// when a worker has classified something and there is a newer frame. Results come in the order of
// the frames, and those of a frame in the order in which the selector chose them, once all of them
// are there. Another plan counts from one frame on, whichever worker takes it.
class Workers {
 public:
  // `pictures` (null: none) outlives it. Nothing else takes from `feed` or `pictures`. Throws
  // Error(kPermission) when the system allows no further thread.
  explicit Workers(const FrameFeed& feed, PictureQueue* pictures = nullptr);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Swaps the next result into `classified`, waiting for it at most `timeout`. The frame comes with
  // the first of its results: give the same `classified` for the others. kClosed: `frames` was
  // closed and all of them were classified. Throws what classifying the next region threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout);

  // Whether a worker has been at one region or picture for longer than `limit` at the time `now`:
  // it may never return.
  bool hangs(Clock::time_point now, std::chrono::milliseconds limit) EXCLUDES(mutex_);

  // Waits for the inferences under way and joins the threads. Results that were not taken are lost.
  void stop();

 private:
  // A frame on its way. While nobody has begun it, who holds `taking_` uses it without `mutex_`;
  // then each worker the frame and the results that it has begun, until it has finished them.
  struct Slot {
    Frame frame;
    PlanPtr plan;
    std::vector<ClassifiedRegion> results{1};  // room for all regions
    std::size_t begun = 0;                     // of the results, in their order
    std::size_t working = 0;                   // workers that classify some of them
    std::exception_ptr error;                  // of the first result that failed
    std::size_t failed = 0;                    // which one that is
  };

  // What a worker classifies: `count` results of a frame, none if all are reused.
  struct Work {
    Slot* slot = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t done = 0;
    std::exception_ptr error{};  // of the first that is not done
  };

  void run(std::size_t number);
  void note_busy(std::size_t number, std::optional<Clock::time_point> since) EXCLUDES(mutex_);
  void classify_picture(std::size_t number, ThreadPlan& with, bool overdue) EXCLUDES(mutex_);
  TakeStatus take_work(PlanPtr& plan, Work& work) EXCLUDES(mutex_);
  TakeStatus take_frame(PlanPtr& plan, Work& work) REQUIRES(taking_);
  void begin_results(Work& work) REQUIRES(mutex_);
  void classify(std::size_t number, ThreadPlan& with, Work& work) EXCLUDES(mutex_);
  void finish(const Work& work) EXCLUDES(mutex_);
  void leave_rest() REQUIRES(mutex_);
  bool is_complete(const Slot& slot) const REQUIRES(mutex_);
  Slot& slot(std::uint64_t ticket) REQUIRES(mutex_) { return slots_[ticket % slots_.size()]; }

  const FrameFeed feed_;
  PictureQueue* const pictures_;
  const std::size_t workers_;

  Mutex taking_;  // held while one of the idle workers waits for a frame
  std::uint64_t next_ticket_ GUARDED_BY(taking_) = 0;  // tickets number the frames

  Mutex mutex_;
  ConditionVariable completed_;
  ConditionVariable emptied_;
  // Frames of the tickets next_result_ .. next_result_ + slots_.size() - 1.
  std::vector<Slot> slots_ GUARDED_BY(mutex_);
  std::uint64_t next_result_ GUARDED_BY(mutex_) = 0;
  std::size_t next_part_ GUARDED_BY(mutex_) = 0;  // of the results of that frame
  Slot* newest_ GUARDED_BY(mutex_) = nullptr;     // the frame that was taken last
  bool has_rest_ GUARDED_BY(mutex_) = false;      // nobody has begun some regions of it
  std::size_t running_ GUARDED_BY(mutex_);        // workers
  // Since when each of them has been at a region or a picture; nothing: it waits for one.
  std::vector<std::optional<Clock::time_point>> busy_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace lookout

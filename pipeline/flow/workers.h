// Frames classified side by side.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/flow/frame_classifier.h"
#include "pipeline/flow/latest.h"

namespace lookout {

// One thread for each classifier, "worker-1" and on, with signals blocked. Each takes a frame as
// soon as it is idle; results come in the order of the frames.
class Workers {
 public:
  // `frames`, the classifiers and `options` outlive it. Nothing else takes from `frames`.
  Workers(Latest<Frame>& frames, const std::vector<Classifier*>& classifiers,
          const PipelineOptions& options);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Swaps the next result into `classified`, waiting for it at most `timeout`. kClosed: `frames`
  // was closed and all of them were classified. Throws what classifying the next frame threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout);

  // Waits for the inferences under way, and joins. Results that were not taken are lost.
  void stop();

 private:
  struct Slot {
    ClassifiedFrame classified;
    std::exception_ptr error;
    bool full = false;
  };

  void run(FrameClassifier& classifier);
  TakeStatus take_frame(ClassifiedFrame& classified, std::uint64_t& ticket);
  // False: stopped.
  bool put(std::uint64_t ticket, ClassifiedFrame& classified, std::exception_ptr error);
  Slot& slot(std::uint64_t ticket) { return slots_[ticket % slots_.size()]; }

  Latest<Frame>& frames_;
  std::vector<FrameClassifier> classifiers_;

  std::mutex taking_;              // held while one of the idle workers waits for a frame
  std::uint64_t next_ticket_ = 0;  // guarded by taking_: the order of the frames

  std::mutex mutex_;  // guards what follows
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::vector<Slot> slots_;  // of the tickets next_result_ .. next_result_ + slots - 1
  std::uint64_t next_result_ = 0;
  std::size_t running_;  // workers
  bool stop_ = false;

  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace lookout

// A single picture that is classified between the frames of a source, by the same model.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <optional>

#include "pipeline/classifier.h"
#include "pipeline/flow/frame_classifier.h"
#include "pipeline/mutex.h"

namespace lookout {

// One thread asks with classify() and waits; the threads that classify frames answer. Frames go
// first: a picture is classified when no frame waits, one between two frames. On a board that
// frames keep busy, it goes before a frame when it has waited for kMaxWait.
class PictureSlot {
 public:
  static constexpr std::chrono::seconds kMaxWait{2};

  // Results hold the `top_k` best predictions with a score of at least `threshold`.
  PictureSlot(std::size_t top_k, float threshold) : top_k_(top_k), threshold_(threshold) {}

  // The result for `bgr` (CV_8UC3), of which durations.preprocess, .inference and .total and `top`
  // are filled; `frame_age` is the time of the call. Neither turned nor cut. Empty after close().
  // Throws what the classifier threw. One thread at a time.
  std::optional<Result> classify(const cv::Mat& bgr) EXCLUDES(mutex_);

  // Pictures are refused from now on; the one that waits, too. Any thread.
  void close() EXCLUDES(mutex_);

  // Pictures that went before a frame that waited. Any thread.
  std::uint64_t displaced() const { return displaced_; }

  // The rest is for those who classify frames.

  // `wake` is called when a picture comes, by the thread that asks. Empty: nobody.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);
  bool is_waiting() const { return waiting_; }
  // Classifies the picture that waits. Returns false when there is none.
  bool classify_waiting(Classifier& classifier) EXCLUDES(mutex_);
  // The same if it has waited for kMaxWait. Call it before a frame is taken.
  void classify_overdue(Classifier& classifier) EXCLUDES(mutex_);

 private:
  enum class Phase { kEmpty, kWaiting, kTaken, kDone };

  bool take(cv::Mat& bgr) EXCLUDES(mutex_);
  void answer(std::optional<Result> result, std::exception_ptr error) EXCLUDES(mutex_);

  const std::size_t top_k_;
  const float threshold_;
  std::atomic<bool> waiting_ = false;  // phase_ is kWaiting
  std::atomic<std::uint64_t> displaced_ = 0;
  mutable Mutex mutex_;
  ConditionVariable done_;
  Phase phase_ GUARDED_BY(mutex_) = Phase::kEmpty;
  bool closed_ GUARDED_BY(mutex_) = false;
  cv::Mat bgr_ GUARDED_BY(mutex_);
  Clock::time_point since_ GUARDED_BY(mutex_);
  std::optional<Result> result_ GUARDED_BY(mutex_);
  std::exception_ptr error_ GUARDED_BY(mutex_);
  std::function<void()> wake_ GUARDED_BY(mutex_);
};

}  // namespace lookout

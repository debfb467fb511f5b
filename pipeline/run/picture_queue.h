// Pictures from elsewhere that are classified between the frames of a source, by the same models.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

#include "pipeline/core/mutex.h"
#include "pipeline/core/result.h"
#include "pipeline/run/picture_classifier.h"

namespace lookout {

// Threads ask with classify() and wait; the threads that classify frames answer, in the order of
// the pictures. Frames go first: a picture is classified when no frame waits, one between two
// frames. On a board that frames keep busy, one goes before a frame when none was classified for
// kMaxWait.
class PictureQueue {
 public:
  static constexpr std::chrono::seconds kMaxWait{2};

  // The result for `bgr` (CV_8UC3), of which `model`, `top` and durations.preprocess, .inference
  // and .total are filled, and as PictureClassifier does for a `watch`; `frame_age` is the time of
  // the call. Of the plan that is current when the picture's turn comes. Empty after close().
  // Throws what PictureClassifier::classify() threw. Any thread.
  std::optional<Result> classify(const cv::Mat& bgr, const std::string& watch = {})
      EXCLUDES(mutex_);

  // Pictures are refused from now on; those that wait, too. Any thread.
  void close() EXCLUDES(mutex_);

  // Pictures that went before a frame that waited. Any thread.
  std::uint64_t displaced() const { return displaced_; }

  // The rest is for those who classify frames.

  // `wake` is called when a picture comes, by the thread that asks. Empty: nobody.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);
  bool is_waiting() const { return waiting_ > 0; }
  // Classifies the first picture that waits. Returns false when there is none.
  bool classify_waiting(PictureClassifier& classifier) EXCLUDES(mutex_);
  // The same if none was classified for kMaxWait. Call it before a frame is taken.
  void classify_overdue(PictureClassifier& classifier) EXCLUDES(mutex_);

 private:
  // On the stack of the thread that asks, which waits until it is done.
  struct Picture {
    cv::Mat bgr;
    std::string watch;
    Clock::time_point since;
    std::optional<Result> result{};
    std::exception_ptr error{};
    bool taken = false;
    bool done = false;
    ConditionVariable changed{};  // for the thread that asks, which alone is woken
  };

  Picture* take() EXCLUDES(mutex_);
  void answer(Picture& picture, std::optional<Result> result, std::exception_ptr error)
      EXCLUDES(mutex_);

  std::atomic<std::size_t> waiting_ = 0;  // the queue's size
  std::atomic<std::uint64_t> displaced_ = 0;
  mutable Mutex mutex_;
  std::deque<Picture*> queue_ GUARDED_BY(mutex_);
  Clock::time_point last_taken_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ GUARDED_BY(mutex_);
};

}  // namespace lookout

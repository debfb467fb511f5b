// How many threads should compute? Decided by what inferences took.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pipeline/frame.h"

namespace lookout {

// At the start it tries 1..most threads in turn, in short batches, and chooses the least mean time;
// of numbers within 10 % of it the smallest, and none whose times are spiky (the 90th percentile
// above 1.5 times the median); a number of which one inference takes 8 times as long as with one
// thread is not tried any more. Or it is told the number. Later it watches: threads that wait for
// each other lose far more than one thread does when other programs want the processors. As soon as
// inferences take longer than one thread's would, one thread is tried, and the faster stays. One
// thread is left again when a short trial shows that more are faster; trials wait until other
// programs leave the processors for it, and come less and less often as they fail.
//
// Pure: knows neither clock nor threads. Not thread-safe. Allocates in the constructor alone.
class ThreadTuner {
 public:
  enum class Start { kTryAll, kMost };

  // most: at least 1. kMost: with so many, and only one thread is timed before. `free_processors`:
  // how many other programs left to us since its last call, on average. `budget`: of the inferences
  // at the start, together.
  ThreadTuner(int most, Start start, std::function<double()> free_processors,
              Clock::duration budget = std::chrono::milliseconds(1200));

  // For the next inference.
  int threads() const { return threads_; }

  // What an inference with threads() took.
  void record(Clock::duration inference);

  // The trials at the start are not over.
  bool starting() const { return phase_ == Phase::kStart; }

 private:
  enum class Phase { kStart, kSettled, kTryingOne, kTryingMore };
  static constexpr int kBatch = 4;  // inferences in a row; the first one warms the pool up
  static constexpr int kEnoughPerCount = 12;
  static constexpr int kWindow = 16;         // inferences that are compared later
  static constexpr int kShortestHold = 300;  // inferences before more threads are tried again: 10 s
  static constexpr int kLongestHold = 9600;  // 5 min at 30 a second

  struct Samples {
    std::vector<Clock::duration> times;
    bool hopeless = false;
    Clock::duration mean() const;
    bool spiky() const;
  };

  void record_start(Clock::duration inference);
  void choose();
  void settle(int threads);
  Clock::duration window_mean() const;
  bool there_is_room();

  Start start_;
  std::function<double()> free_processors_;
  Phase phase_ = Phase::kStart;
  int threads_ = 1;
  std::vector<Samples> samples_;  // of 1, 2, ... threads
  int in_batch_ = 0;
  Clock::duration left_;  // of the budget

  int more_ = 1;              // the best number above one, as far as known
  Clock::duration one_{};     // mean with one thread, when last seen
  Clock::duration before_{};  // mean of the window that made one thread be tried
  Clock::duration window_{};
  int in_window_ = 0;
  int hold_ = kShortestHold;
  int held_ = 0;  // inferences with one thread since it was settled on
};

}  // namespace lookout

// Decides from the durations of inferences how many threads compute.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/model/inference_times.h"

namespace lookout {

// At the start it tries 1 to max_threads threads in turn, in short batches, and chooses the
// smallest number whose mean time is within 10 % of the best. It never chooses a number with spiky
// times (the 90th percentile above 1.5 times the median), and stops trying one once an inference
// takes 8 times as long as with one thread. Instead of the trials the number may be given.
//
// Later it watches, since threads that wait for each other lose far more than one thread does when
// other programs want the processors. When inferences take longer than one thread's would, it tries
// one thread, and keeps what is faster. From one thread it goes back when a short trial shows that
// more are faster. It makes such trials only while other programs leave the processors free, and
// less and less often as they fail.
//
// It knows neither clock nor threads. Not thread-safe. Allocates in the constructor and at the
// start alone.
class ThreadTuner {
 public:
  enum class Start {
    kTryAll,
    kMax,  // times one thread only, then uses max_threads
  };

  static constexpr std::chrono::milliseconds kBudget{1200};

  // `max_threads`: at least 1. `free_processors`: average number of processors that other programs
  // left free since its last call. `budget`: total time of the inferences at the start, after which
  // a number gets a short batch only. `limit`: no inference begins that would probably end later;
  // the best number so far is taken. `with_max`: what an inference takes with max_threads at best;
  // when the limit leaves no time for one thread, max_threads is taken without trials.
  ThreadTuner(int max_threads, Start start, std::function<double()> free_processors,
              Clock::duration budget = kBudget, Clock::duration limit = Clock::duration::max(),
              Clock::duration with_max = {});

  // Number of threads for the next inference.
  int threads() const { return threads_; }

  // `inference`: duration of an inference with threads() threads.
  void record(Clock::duration inference);

  // True until the trials at the start are over.
  bool starting() const { return phase_ == Phase::kStart; }

 private:
  enum class Phase { kStart, kSettled, kTryingOne, kTryingSeveral };
  static constexpr int kBatch = 4;  // inferences in a row; the first one warms the pool up
  static constexpr int kEnoughPerCount = 12;
  static constexpr int kWindow = 16;     // inferences that are compared later
  static constexpr int kMinHold = 300;   // inferences between trials of several threads: 10 s
  static constexpr int kMaxHold = 9600;  // 5 min at 30 a second

  struct Samples : InferenceTimes {
    bool hopeless = false;
  };

  void record_start(Clock::duration inference);
  void advance_start();
  bool has_enough_samples() const;
  void find_best_count();
  void choose();

  // One for each phase after the start; kSettled has two.
  void watch_several();
  void watch_one();
  void try_one();
  void try_several();

  void settle(int threads);
  void begin_trial(Phase phase, int threads);
  void clear_window();
  bool window_is_full() const { return in_window_ == kWindow; }
  Clock::duration window_mean() const;
  // Whether the window's time exceeds that of a full window of one thread, times `factor`.
  bool window_exceeds(double factor) const;
  bool enough_processors_are_free();
  Samples& samples_of(int threads) { return samples_[static_cast<std::size_t>(threads) - 1]; }

  Start start_;
  std::function<double()> free_processors_;
  Phase phase_ = Phase::kStart;
  int threads_ = 1;
  std::vector<Samples> samples_;  // of 1, 2, ... threads
  int in_batch_ = 0;
  Clock::duration budget_left_;
  Clock::duration limit_left_;
  Clock::duration with_max_;

  int best_count_ = 1;                    // the best number above one, as far as known
  Clock::duration single_thread_mean_{};  // as last measured
  Clock::duration mean_before_trial_{};   // with several threads, before one thread was tried
  Clock::duration window_{};              // sum of the inferences in the window
  int in_window_ = 0;
  int hold_ = kMinHold;
  int inferences_with_one_ = 0;  // since one thread was settled on
};

}  // namespace lookout

#include "pipeline/model/thread_tuner.h"

#include <algorithm>
#include <utility>

namespace lookout {
namespace {

constexpr double kHopeless = 8;     // one inference, relative to the mean of one thread
constexpr double kNotWorse = 1.05;  // relative to one thread
constexpr double kBetter = 0.95;    // relative to one thread

Clock::duration times(double factor, Clock::duration duration) {
  return std::chrono::duration_cast<Clock::duration>(factor * duration);
}

}  // namespace

ThreadTuner::ThreadTuner(int max_threads, Start start, std::function<double()> free_processors,
                         Clock::duration budget, Clock::duration limit, Clock::duration with_max)
    : start_(start),
      free_processors_(std::move(free_processors)),
      samples_(static_cast<std::size_t>(max_threads)),
      budget_left_(budget),
      limit_left_(limit),
      with_max_(with_max) {
  // One thread gets two inferences, each of which takes at most as long as all threads together.
  const Clock::duration with_one = max_threads * with_max;
  if (max_threads > 1 && 2 * with_one <= limit) return;
  single_thread_mean_ = with_one;
  best_count_ = max_threads;
  settle(max_threads);
}

void ThreadTuner::record(Clock::duration inference) {
  if (phase_ == Phase::kStart) return record_start(inference);
  if (best_count_ == 1) return;  // nothing to choose from
  window_ += inference;
  ++in_window_;
  switch (phase_) {
    case Phase::kStart:
      break;
    case Phase::kSettled:
      return threads_ > 1 ? watch_several() : watch_one();
    case Phase::kTryingOne:
      return try_one();
    case Phase::kTryingSeveral:
      return try_several();
  }
}

void ThreadTuner::record_start(Clock::duration inference) {
  budget_left_ -= inference;
  limit_left_ -= inference;
  Samples& samples = samples_of(threads_);
  samples.hopeless = threads_ > 1 && inference > times(kHopeless, samples_of(1).mean());
  if (in_batch_ > 0 || samples.hopeless) samples.times.push_back(inference);
  // Every number gets a batch, if a short one, whatever the budget.
  const bool out_of_time = budget_left_.count() <= 0 && in_batch_ > 0;
  ++in_batch_;
  if (limit_left_ < inference && start_ == Start::kTryAll && samples_of(1).any()) {
    if (!samples_.back().any() && with_max_.count() > 0) samples_.back().times = {with_max_};
    return choose();
  }
  if (in_batch_ == kBatch || out_of_time || samples.hopeless) advance_start();
}

// A batch is over.
void ThreadTuner::advance_start() {
  in_batch_ = 0;
  const auto max_threads = static_cast<int>(samples_.size());
  if (start_ == Start::kMax) {
    single_thread_mean_ = samples_of(1).mean();
    best_count_ = max_threads;
    return settle(max_threads);
  }
  do {
    threads_ = threads_ == max_threads ? 1 : threads_ + 1;
  } while (samples_of(threads_).hopeless);
  if (threads_ == 1 && has_enough_samples()) choose();
}

bool ThreadTuner::has_enough_samples() const {
  const bool only_one = std::all_of(samples_.begin() + 1, samples_.end(),
                                    [](const Samples& several) { return several.hopeless; });
  return samples_.front().times.size() >= kEnoughPerCount || only_one || budget_left_.count() <= 0;
}

void ThreadTuner::find_best_count() {
  const auto best = std::min_element(samples_.begin() + 1, samples_.end(),
                                     [](const Samples& a, const Samples& b) {
                                       return a.any() && (!b.any() || a.mean() < b.mean());
                                     });
  best_count_ = static_cast<int>(best - samples_.begin()) + 1;
}

void ThreadTuner::choose() {
  single_thread_mean_ = samples_of(1).mean();
  find_best_count();
  // One thread is never too spiky.
  Clock::duration best = single_thread_mean_;
  const auto max_threads = static_cast<int>(samples_.size());
  for (int threads = 2; threads <= max_threads; ++threads) {
    const Samples& samples = samples_of(threads);
    if (samples.any() && !samples.spiky()) best = std::min(best, samples.mean());
  }
  if (samples_of(1).is_as_good_as(best)) return settle(1);
  for (int threads = 2; threads <= max_threads; ++threads) {
    const Samples& samples = samples_of(threads);
    if (!samples.any() || samples.spiky() || !samples.is_as_good_as(best)) continue;
    best_count_ = threads;
    return settle(threads);
  }
}

void ThreadTuner::watch_several() {
  if (window_exceeds(kNotWorse)) {
    mean_before_trial_ = window_mean();
    begin_trial(Phase::kTryingOne, 1);
  } else if (window_is_full()) {
    clear_window();
  }
}

void ThreadTuner::watch_one() {
  ++inferences_with_one_;
  if (!window_is_full()) return;
  single_thread_mean_ = window_mean();
  clear_window();
  if (inferences_with_one_ < hold_) return;
  inferences_with_one_ = 0;
  if (enough_processors_are_free()) begin_trial(Phase::kTryingSeveral, best_count_);
}

void ThreadTuner::try_one() {
  if (!window_is_full()) return;
  single_thread_mean_ = window_mean();
  settle(single_thread_mean_ < mean_before_trial_ ? 1 : best_count_);
}

void ThreadTuner::try_several() {
  if (window_exceeds(kBetter)) {
    hold_ = std::min(2 * hold_, kMaxHold);
    settle(1);
  } else if (window_is_full()) {
    hold_ = kMinHold;
    settle(best_count_);
  }
}

void ThreadTuner::settle(int threads) { begin_trial(Phase::kSettled, threads); }

void ThreadTuner::begin_trial(Phase phase, int threads) {
  phase_ = phase;
  threads_ = threads;
  inferences_with_one_ = 0;
  clear_window();
}

void ThreadTuner::clear_window() {
  window_ = {};
  in_window_ = 0;
}

Clock::duration ThreadTuner::window_mean() const { return window_ / std::max(1, in_window_); }

bool ThreadTuner::window_exceeds(double factor) const {
  return window_ > times(factor * kWindow, single_thread_mean_);
}

bool ThreadTuner::enough_processors_are_free() {
  constexpr double kOthers = 0.3;  // of a processor, that other programs may take
  return free_processors_() >= best_count_ - kOthers;
}

}  // namespace lookout

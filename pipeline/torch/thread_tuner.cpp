#include "pipeline/torch/thread_tuner.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lookout {
namespace {

constexpr double kHopeless = 8;     // one inference to the mean of one thread
constexpr double kSpiky = 1.5;      // 90th percentile to median
constexpr double kAsGood = 1.1;     // a mean that far from the least is as good
constexpr double kNotWorse = 1.05;  // than one thread
constexpr double kBetter = 0.95;    // than one thread

Clock::duration times(double factor, Clock::duration duration) {
  return std::chrono::duration_cast<Clock::duration>(factor * duration);
}

}  // namespace

Clock::duration ThreadTuner::Samples::mean() const {
  const auto sum = std::accumulate(times.begin(), times.end(), Clock::duration{});
  return sum / std::max<Clock::rep>(1, static_cast<Clock::rep>(times.size()));
}

bool ThreadTuner::Samples::spiky() const {
  std::vector<Clock::duration> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return false;
  const Clock::duration median = sorted[sorted.size() / 2];
  const Clock::duration high = sorted[sorted.size() * 9 / 10];
  return high > lookout::times(kSpiky, median);
}

ThreadTuner::ThreadTuner(int most, Start start, std::function<double()> free_processors,
                         Clock::duration budget)
    : start_(start),
      free_processors_(std::move(free_processors)),
      samples_(static_cast<std::size_t>(most)),
      left_(budget) {
  if (most == 1) settle(1);
}

void ThreadTuner::record_start(Clock::duration inference) {
  left_ -= inference;
  Samples& samples = samples_[static_cast<std::size_t>(threads_) - 1];
  samples.hopeless = threads_ > 1 && inference > times(kHopeless, samples_[0].mean());
  if (in_batch_ > 0 || samples.hopeless) samples.times.push_back(inference);
  // Every number gets a batch, if a short one, whatever the budget.
  const bool out_of_time = left_.count() <= 0 && in_batch_ > 0;
  if (++in_batch_ < kBatch && !out_of_time && !samples.hopeless) return;
  in_batch_ = 0;
  if (start_ == Start::kMost) {
    one_ = samples.mean();
    more_ = static_cast<int>(samples_.size());
    return settle(more_);
  }
  const auto count = static_cast<int>(samples_.size());
  do {
    threads_ = threads_ == count ? 1 : threads_ + 1;
  } while (samples_[static_cast<std::size_t>(threads_) - 1].hopeless);
  if (threads_ > 1) return;
  const bool enough = samples_[0].times.size() >= kEnoughPerCount;
  const bool only_one = std::all_of(samples_.begin() + 1, samples_.end(),
                                    [](const Samples& more) { return more.hopeless; });
  if (enough || only_one || left_.count() <= 0) choose();
}

void ThreadTuner::choose() {
  one_ = samples_[0].mean();
  Clock::duration least = one_;
  Clock::duration least_of_more = Clock::duration::max();
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    const Clock::duration mean = samples_[i].mean();
    if (mean < least_of_more) {
      least_of_more = mean;
      more_ = static_cast<int>(i) + 1;
    }
    if (!samples_[i].spiky()) least = std::min(least, mean);
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (i > 0 && samples_[i].spiky()) continue;
    if (samples_[i].mean() > times(kAsGood, least)) continue;
    if (i > 0) more_ = static_cast<int>(i) + 1;
    settle(static_cast<int>(i) + 1);
    return;
  }
  settle(1);
}

void ThreadTuner::settle(int threads) {
  phase_ = Phase::kSettled;
  threads_ = threads;
  window_ = {};
  in_window_ = 0;
  held_ = 0;
}

bool ThreadTuner::there_is_room() {
  constexpr double kOthers = 0.3;  // of a processor, that other programs may take
  return free_processors_() >= more_ - kOthers;
}

Clock::duration ThreadTuner::window_mean() const { return window_ / std::max(1, in_window_); }

void ThreadTuner::record(Clock::duration inference) {
  if (phase_ == Phase::kStart) return record_start(inference);
  if (more_ == 1) return;  // nothing to choose from
  window_ += inference;
  ++in_window_;
  const bool full = in_window_ == kWindow;
  const auto one_thread_takes = [this](double factor) { return times(factor * kWindow, one_); };
  switch (phase_) {
    case Phase::kStart:
      break;
    case Phase::kSettled:
      if (threads_ > 1) {
        if (window_ > one_thread_takes(kNotWorse)) {
          before_ = window_mean();
          settle(1);
          phase_ = Phase::kTryingOne;
        } else if (full) {
          settle(threads_);
        }
        break;
      }
      ++held_;
      if (full) {
        one_ = window_mean();
        window_ = {};
        in_window_ = 0;
        if (held_ >= hold_) {
          const bool room = there_is_room();
          settle(room ? more_ : 1);
          if (room) phase_ = Phase::kTryingMore;
        }
      }
      break;
    case Phase::kTryingOne:
      if (!full) break;
      one_ = window_mean();
      settle(one_ < before_ ? 1 : more_);
      break;
    case Phase::kTryingMore:
      if (window_ > one_thread_takes(kBetter)) {
        hold_ = std::min(2 * hold_, kLongestHold);
        settle(1);
      } else if (full) {
        hold_ = kShortestHold;
        settle(more_);
      }
      break;
  }
}

}  // namespace lookout

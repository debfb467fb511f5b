#include "pipeline/model/thread_trials.h"

#include <algorithm>
#include <cstddef>

#include "pipeline/model/inference_times.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kBudget{1200};  // for the inferences of all numbers
constexpr std::size_t kEnough = 12;                 // inferences that count

// The first inference, which wakes the threads, does not count.
InferenceTimes run_batch(const ThreadTrials& trials, Clock::duration budget,
                         Clock::time_point deadline) {
  InferenceTimes times;
  Clock::duration sum{};
  Clock::time_point begin = trials.now();
  for (bool first = true;; first = false) {
    trials.run();
    const Clock::time_point end = trials.now();
    const Clock::duration inference = end - begin;
    const bool in_time = end + inference <= deadline;
    if (!first || !in_time) times.times.push_back(inference);
    sum += inference;
    if (!in_time || times.times.size() == kEnough || (!first && sum >= budget)) return times;
    begin = end;
  }
}

bool is_better(const InferenceTimes& tried, bool fewer, const InferenceTimes& best) {
  if (tried.spiky() != best.spiky()) return best.spiky();
  return fewer ? tried.is_as_good_as(best.mean()) : !best.is_as_good_as(tried.mean());
}

}  // namespace

void try_threads(const ThreadTrials& trials, int max_threads, Clock::duration limit,
                 Clock::duration load_time) {
  const Clock::time_point deadline = trials.now() + limit;
  const Clock::duration budget = Clock::duration(kBudget) / max_threads;
  if (max_threads == 1 || limit.count() <= 0) return;
  InferenceTimes best = run_batch(trials, budget, deadline);
  int best_count = max_threads;
  const auto attempt = [&](int count, std::chrono::microseconds spin) {
    // Fewer threads take at most as long as more of them together.
    const Clock::duration inference = best.mean() * std::max(1, best_count / count);
    if (trials.now() + load_time + 2 * inference > deadline) return;
    trials.load(count, spin);
    const InferenceTimes tried = run_batch(trials, budget, deadline);
    if (!is_better(tried, count < best_count, best)) return;
    trials.keep();
    best = tried;
    best_count = count;
  };
  for (int count = 1; count < max_threads; ++count) attempt(count, kSpin);
  if (best_count == 1) return;
  for (const std::chrono::microseconds spin : {kNoSpin, kLongSpin}) attempt(best_count, spin);
}

}  // namespace lookout

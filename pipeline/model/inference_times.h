// The durations of inferences with one number of threads.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "pipeline/core/frame.h"

namespace lookout {

struct InferenceTimes {
  std::vector<Clock::duration> times;

  bool any() const { return !times.empty(); }

  Clock::duration mean() const {
    const auto sum = std::accumulate(times.begin(), times.end(), Clock::duration{});
    return sum / std::max<Clock::rep>(1, static_cast<Clock::rep>(times.size()));
  }

  // Whether the 90th percentile is above 1.5 times the median.
  bool spiky() const {
    constexpr double kSpiky = 1.5;
    std::vector<Clock::duration> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty()) return false;
    return sorted[sorted.size() * 9 / 10] > kSpiky * sorted[sorted.size() / 2];
  }

  // Whether the mean is at most a tenth above `other`.
  bool is_as_good_as(Clock::duration other) const {
    constexpr double kAsGood = 1.1;
    return mean() <= kAsGood * other;
  }
};

}  // namespace lookout

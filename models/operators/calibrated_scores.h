// The arithmetic of the operator, the same for both engines: calibrated scores, and one for what is
// like none of the classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lookout_example {

// From `classes` logits, 1 or more, to as many scores and one for "unknown"; their sum is 1.
//
// Logits divided by `temperature` (above 0) give scores that are right as often as they say. Their
// energy, temperature * log(sum(exp(logit / temperature))), is high for a picture like those of the
// training. A picture whose energy is `threshold` is unknown with a score of 0.5.
inline void calibrated_scores(const float* logits, std::int64_t classes, double temperature,
                              double threshold, float* scores) {
  const double largest = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (std::int64_t i = 0; i < classes; ++i) sum += std::exp((logits[i] - largest) / temperature);
  const double energy = largest + temperature * std::log(sum);
  const double unknown = 1 / (1 + std::exp(energy - threshold));
  for (std::int64_t i = 0; i < classes; ++i) {
    const double score = std::exp((logits[i] - largest) / temperature) / sum;
    scores[i] = static_cast<float>(score * (1 - unknown));
  }
  scores[classes] = static_cast<float>(unknown);
}

}  // namespace lookout_example

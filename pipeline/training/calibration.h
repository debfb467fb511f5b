// How good a model is: intervals of shares, and whether scores mean what they say.
#pragma once

#include <cstddef>
#include <vector>

namespace lookout {

struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

// The 95 % interval of a share of which `part` of `all` were seen, 0..1 (Wilson's score interval,
// https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval). 0 and 1 when `all` is 0.
ConfidenceInterval wilson_interval(std::size_t part, std::size_t all);
// The same of a share, 0..1, that was seen of `all`, which need not be a whole number.
ConfidenceInterval share_interval(double share, double all);

// Softmax of logits / temperature.
std::vector<float> probabilities(const std::vector<float>& logits, float temperature);

// The temperature with the least mean cross-entropy. `logits`: of each picture; `classes`: its
// right class. Above 0.
float fit_temperature(const std::vector<std::vector<float>>& logits,
                      const std::vector<std::size_t>& classes);

// The mean cross-entropy.
double log_loss(const std::vector<std::vector<float>>& logits,
                const std::vector<std::size_t>& classes, float temperature);

// The best score of a picture, and whether its class is the right one.
struct ScoredPicture {
  float score = 0;
  bool right = false;
};

// The expected calibration error: the mean difference, weighted by the pictures, between mean score
// and accuracy in each of 15 equal bins of the scores. 0 without pictures.
double calibration_error(const std::vector<ScoredPicture>& pictures);

}  // namespace lookout

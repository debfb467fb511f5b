// How good a model is: intervals of shares, and whether scores mean what they say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// A share, 0..1, and of how many it was seen.
struct SeenShare {
  double share = 0;
  double all = 0;
};

// The 95 % interval of the mean of independent shares: the distances to the limits of their
// share_interval() are added in squares (MOVER; Zou and Donner, Statistics in Medicine 27, 2008).
// 0 and 1 without shares.
ConfidenceInterval mean_interval(const std::vector<SeenShare>& shares);

// Softmax of logits / temperature.
std::vector<float> probabilities(const std::vector<float>& logits, float temperature);

// The temperature with the least log_loss(). `logits`: of each picture; `classes`: its right class;
// `weights`: how much it counts. Above 0.
float fit_temperature(const std::vector<std::vector<float>>& logits,
                      const std::vector<std::size_t>& classes, const std::vector<float>& weights);

// The weighted mean cross-entropy. A class of n pictures has the targets (n + 1) / (n + 2) and, for
// all other classes together, 1 / (n + 2) (Platt, Probabilistic Outputs for Support Vector
// Machines, 1999): that all of few pictures are right does not make a model certain.
double log_loss(const std::vector<std::vector<float>>& logits,
                const std::vector<std::size_t>& classes, const std::vector<float>& weights,
                float temperature);

// The best score of a picture, and whether its class is the right one.
struct ScoredPicture {
  float score = 0;
  bool right = false;
};

// Pictures whose best scores lie in [from, to), for the last one [from, to].
struct CalibrationBin {
  double from = 0;
  double to = 0;
  std::uint64_t pictures = 0;
  double mean_score = 0;  // 0..1; 0 without pictures
  double accuracy = 0;    // the share that is right, 0..1
};

// Whether a score of 0.8 means that the prediction is right in 8 of 10 cases.
struct Calibration {
  std::vector<CalibrationBin> bins;  // tenths of the scores
  // The expected calibration error (ECE): the mean difference between score and accuracy of a bin,
  // weighted by its pictures. Empty without pictures.
  std::optional<double> error;
};

Calibration calibration_of(const std::vector<ScoredPicture>& pictures);

}  // namespace lookout

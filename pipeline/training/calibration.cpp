#include "pipeline/training/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pipeline/model/top_k.h"

namespace lookout {
namespace {

constexpr std::size_t kBins = 15;

}  // namespace

ConfidenceInterval wilson_interval(std::size_t part, std::size_t all) {
  const auto count = static_cast<double>(all);
  return share_interval(all == 0 ? 0 : static_cast<double>(part) / count, count);
}

ConfidenceInterval share_interval(double share, double all) {
  if (all <= 0) return {0, 1};
  constexpr double kZ = 1.959964;  // of 95 %
  const double n = all;
  const double divisor = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / divisor;
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / divisor;
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<float> probabilities(const std::vector<float>& logits, float temperature) {
  std::vector<float> scaled = logits;
  for (float& logit : scaled) logit /= temperature;
  std::vector<float> scores;
  softmax(scaled, scores);
  return scores;
}

double log_loss(const std::vector<std::vector<float>>& logits,
                const std::vector<std::size_t>& classes, float temperature) {
  constexpr float kLeast = 1e-7F;  // a sure mistake costs a finite amount
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float score = probabilities(logits[i], temperature)[classes[i]];
    sum -= std::log(static_cast<double>(std::max(score, kLeast)));
  }
  return logits.empty() ? 0 : sum / static_cast<double>(logits.size());
}

// Tries temperatures from 0.02 to 20, each 5 % above the one before.
float fit_temperature(const std::vector<std::vector<float>>& logits,
                      const std::vector<std::size_t>& classes) {
  constexpr double kFirst = 0.02;
  constexpr double kLast = 20;
  constexpr double kStep = 1.05;
  double best = kFirst;
  double least = -1;
  double temperature = kFirst;
  while (temperature <= kLast) {
    const double loss = log_loss(logits, classes, static_cast<float>(temperature));
    if (least < 0 || loss < least) {
      least = loss;
      best = temperature;
    }
    temperature *= kStep;
  }
  return static_cast<float>(best);
}

double calibration_error(const std::vector<ScoredPicture>& pictures) {
  std::array<double, kBins> differences{};
  for (const ScoredPicture& picture : pictures) {
    const auto score = static_cast<double>(picture.score);
    const auto bin = static_cast<std::size_t>(std::max(0.0, score) * kBins);
    differences[std::min(bin, kBins - 1)] += score - (picture.right ? 1 : 0);
  }
  double sum = 0;
  for (const double difference : differences) sum += std::abs(difference);
  return pictures.empty() ? 0 : sum / static_cast<double>(pictures.size());
}

}  // namespace lookout

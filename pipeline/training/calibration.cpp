#include "pipeline/training/calibration.h"

#include <algorithm>
#include <cmath>

#include "pipeline/model/top_k.h"

namespace lookout {
namespace {

constexpr std::size_t kBins = 10;

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

ConfidenceInterval mean_interval(const std::vector<SeenShare>& shares) {
  if (shares.empty()) return {0, 1};
  double sum = 0;
  double below = 0;
  double above = 0;
  for (const auto& [share, all] : shares) {
    const auto [low, high] = share_interval(share, all);
    sum += share;
    below += (share - low) * (share - low);
    above += (high - share) * (high - share);
  }
  const auto count = static_cast<double>(shares.size());
  const double mean = sum / count;
  return {std::max(0.0, mean - std::sqrt(below) / count),
          std::min(1.0, mean + std::sqrt(above) / count)};
}

std::vector<float> probabilities(const std::vector<float>& logits, float temperature) {
  std::vector<float> scaled = logits;
  for (float& logit : scaled) logit /= temperature;
  std::vector<float> scores;
  softmax(scaled, scores);
  return scores;
}

double log_loss(const std::vector<std::vector<float>>& logits,
                const std::vector<std::size_t>& classes, const std::vector<float>& weights,
                float temperature) {
  constexpr float kLeast = 1e-7F;  // a sure mistake costs a finite amount
  std::vector<std::size_t> counts;
  for (const std::size_t index : classes) {
    counts.resize(std::max(counts.size(), index + 1));
    ++counts[index];
  }
  double sum = 0;
  double all = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const std::vector<float> scores = probabilities(logits[i], temperature);
    const double others = 1 / (static_cast<double>(counts[classes[i]]) + 2);
    const auto weight = static_cast<double>(weights[i]);
    for (std::size_t index = 0; index < scores.size(); ++index) {
      const double target =
          index == classes[i] ? 1 - others : others / static_cast<double>(scores.size() - 1);
      sum -= weight * target * std::log(static_cast<double>(std::max(scores[index], kLeast)));
    }
    all += weight;
  }
  return all == 0 ? 0 : sum / all;
}

// Tries temperatures from 0.02 to 20, each 5 % above the one before.
float fit_temperature(const std::vector<std::vector<float>>& logits,
                      const std::vector<std::size_t>& classes, const std::vector<float>& weights) {
  constexpr double kFirst = 0.02;
  constexpr double kLast = 20;
  constexpr double kStep = 1.05;
  double best = kFirst;
  double least = -1;
  double temperature = kFirst;
  while (temperature <= kLast) {
    const double loss = log_loss(logits, classes, weights, static_cast<float>(temperature));
    if (least < 0 || loss < least) {
      least = loss;
      best = temperature;
    }
    temperature *= kStep;
  }
  return static_cast<float>(best);
}

Calibration calibration_of(const std::vector<ScoredPicture>& pictures) {
  Calibration calibration;
  calibration.bins.resize(kBins);
  for (const ScoredPicture& picture : pictures) {
    const auto score = static_cast<double>(picture.score);
    const auto bin = static_cast<std::size_t>(std::max(0.0, score) * kBins);
    CalibrationBin& sums = calibration.bins[std::min(bin, kBins - 1)];
    ++sums.pictures;
    sums.mean_score += score;
    sums.accuracy += picture.right ? 1 : 0;
  }
  double error = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    CalibrationBin& bin = calibration.bins[i];
    bin.from = static_cast<double>(i) / kBins;
    bin.to = static_cast<double>(i + 1) / kBins;
    error += std::abs(bin.mean_score - bin.accuracy);
    const auto count = static_cast<double>(std::max<std::uint64_t>(1, bin.pictures));
    bin.mean_score /= count;
    bin.accuracy /= count;
  }
  if (!pictures.empty()) calibration.error = error / static_cast<double>(pictures.size());
  return calibration;
}

}  // namespace lookout

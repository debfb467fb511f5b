#include "pipeline/training/ood_detector.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace lookout {
namespace {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Of 2 to 3 deviations and two scores, these gave the least calibration error in the
// cross-validation of 244 pictures of ants and bees. The 5th percentile alone refuses several times
// as many new pictures, above all when there are few to train with.
constexpr double kDeviations = 2.75;
constexpr float kTypicalUnknown = 0.002F;  // the score of "unknown" at the mean similarity
constexpr double kRefusedShare = 0.05;     // of held-out pictures
constexpr double kRecognised = 0.95;       // of foreign scenes, if the bounds allow it

std::size_t highest(const float* values, std::size_t count) {
  return static_cast<std::size_t>(std::max_element(values, values + count) - values);
}

float quantile(std::vector<float>& values, double share) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(share * last))];
}

}  // namespace

std::vector<float> profile_of(const std::vector<float>& base_scores) {
  const Eigen::Map<const Eigen::ArrayXf> scores(base_scores.data(),
                                                static_cast<Eigen::Index>(base_scores.size()));
  const Eigen::ArrayXf centered = scores - scores.mean();
  const float deviation = std::sqrt(centered.square().mean());
  std::vector<float> profile(base_scores.size());
  Eigen::Map<Eigen::ArrayXf>(profile.data(), scores.size()) =
      (centered / std::max(deviation, 1e-12F) - 1).max(0);
  return profile;
}

float dot_of_frame(const float* a, const float* b, std::size_t width) {
  using Row = Eigen::Map<const Eigen::VectorXf>;
  const auto size = static_cast<Eigen::Index>(width);
  return Row(a, size).dot(Row(b, size));
}

float OodDetector::similarity(const float* row, DotProduct product) const {
  std::vector<float> cosines(examples.size());
  for (std::size_t i = 0; i < cosines.size(); ++i) {
    cosines[i] = product(examples[i], row, examples.width());
  }
  const std::size_t count = std::min(neighbours, cosines.size());
  const auto end = cosines.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(cosines.begin(), end, cosines.end(), std::greater<>());
  return std::accumulate(cosines.begin(), end, 0.0F) / static_cast<float>(count);
}

float OodDetector::unknown(float similarity) const {
  return 1 / (1 + std::exp((similarity - threshold) * steepness));
}

Embeddings foreign_profiles(const Embeddings& rows, const Embeddings& known) {
  std::set<std::size_t> known_classes;
  for (std::size_t i = 0; i < known.size(); ++i) {
    known_classes.insert(highest(known[i], known.width()));
  }
  const Eigen::Map<const RowMatrix> weights(rows.values().data(),
                                            static_cast<Eigen::Index>(rows.size()),
                                            static_cast<Eigen::Index>(rows.width()));
  const RowMatrix centered = weights.rowwise() - weights.colwise().mean();
  Embeddings profiles;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (known_classes.count(c) > 0) continue;
    std::vector<float> scores(rows.size());
    Eigen::Map<Eigen::VectorXf>(scores.data(), centered.rows()).noalias() =
        centered * centered.row(static_cast<Eigen::Index>(c)).transpose();
    profiles.add(profile_of(scores));
    profiles.reserve(rows.size());
  }
  return profiles;
}

OodThreshold choose_threshold(const std::vector<float>& views, std::vector<float> pictures,
                              std::vector<float> foreign) {
  const auto count = static_cast<double>(views.size());
  const double mean = std::accumulate(views.begin(), views.end(), 0.0) / count;
  double squares = 0;
  for (const auto similarity : views) {
    squares += std::pow(static_cast<double>(similarity) - mean, 2);
  }
  constexpr double kLeastDeviation = 1e-3;  // of pictures that are all the same
  const double deviation = std::max(kLeastDeviation, std::sqrt(squares / (count - 1)));
  const auto lowest = static_cast<float>(mean - kDeviations * deviation);
  OodThreshold chosen{lowest, 1};
  if (!foreign.empty()) {
    const float highest_allowed = std::max(lowest, quantile(pictures, kRefusedShare));
    chosen.threshold = std::clamp(quantile(foreign, kRecognised), lowest, highest_allowed);
  }
  const float typical = std::log(1 / kTypicalUnknown - 1);
  const auto distance = static_cast<float>(mean) - chosen.threshold;
  chosen.steepness =
      typical / std::max(distance, static_cast<float>(kDeviations * kLeastDeviation));
  return chosen;
}

}  // namespace lookout

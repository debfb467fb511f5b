#include "pipeline/model/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pipeline/core/error.h"

namespace lookout {

void softmax(const std::vector<float>& logits, std::vector<float>& scores) {
  scores.resize(logits.size());
  if (logits.empty()) return;
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double power = std::exp(static_cast<double>(logits[i]) - largest);
    scores[i] = static_cast<float>(power);
    sum += power;
  }
  if (!std::isfinite(sum)) {
    throw Error(ErrorKind::kBadData, "the model's output holds values that are not finite numbers");
  }
  for (float& score : scores) score = static_cast<float>(score / sum);
}

bool are_probabilities(const std::vector<float>& outputs) {
  constexpr double kTolerance = 1e-2;  // bfloat16 has 8 bits
  const double sum = std::accumulate(outputs.begin(), outputs.end(), 0.0);
  return outputs.size() > 1 && std::abs(sum - 1) <= kTolerance &&
         std::all_of(outputs.begin(), outputs.end(), [](float output) { return output >= 0; });
}

void top_k(const std::vector<float>& logits, const std::vector<float>& scores,
           const std::vector<std::string>& labels, std::size_t k, float threshold,
           std::vector<Prediction>& top) {
  top.clear();
  top.reserve(k);
  // Insertion into a short sorted list: most logits are compared once, with its last.
  const auto better = [](const Prediction& a, const Prediction& b) { return a.score > b.score; };
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (top.size() == k && (k == 0 || logits[i] <= top.back().score)) continue;
    if (top.size() == k) top.pop_back();
    const Prediction candidate{i, labels[i], logits[i]};
    top.insert(std::upper_bound(top.begin(), top.end(), candidate, better), candidate);
  }
  for (Prediction& prediction : top) prediction.score = scores[prediction.index];
  while (!top.empty() && top.back().score < threshold) top.pop_back();
}

}  // namespace lookout

// From logits to predictions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/core/result.h"

namespace lookout {

// `scores` becomes one score, 0..1, for each logit; together they are 1. Throws Error(kBadData)
// when a logit is NaN or plus infinity, or when all are minus infinity.
void softmax(const std::vector<float>& logits, std::vector<float>& scores);

// Whether the outputs are probabilities already: none below 0, together 1 to within 0.01, as they
// may have been rounded to 16 bits, and more than one.
bool are_probabilities(const std::vector<float>& outputs);

// The `k` best with a score of at least `threshold`, best first; equal logits are ordered by index.
// `scores` and `labels` have an entry for each logit. The labels must outlive `top`, which is
// overwritten and, once it has held k predictions, not reallocated.
void top_k(const std::vector<float>& logits, const std::vector<float>& scores,
           const std::vector<std::string>& labels, std::size_t k, float threshold,
           std::vector<Prediction>& top);

}  // namespace lookout

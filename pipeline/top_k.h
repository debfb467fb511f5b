// From logits to predictions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/result.h"

namespace lookout {

// Softmax, then the `k` best with a score of at least `threshold`, best first; equal scores are
// ordered by index. `labels` has an entry for each logit and must outlive `top`, which is
// overwritten and, once it has held k predictions, not reallocated. Throws Error(kBadModel) when a
// logit is NaN or plus infinity, or when all are minus infinity.
void top_k(const std::vector<float>& logits, const std::vector<std::string>& labels, std::size_t k,
           float threshold, std::vector<Prediction>& top);

}  // namespace lookout

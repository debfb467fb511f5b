#include "pipeline/results/certainty.h"

namespace lookout {

bool is_unsure(const Result& result) {
  if (result.top.empty()) return true;
  const Prediction& best = result.top.front();
  const float second = result.top.size() > 1 ? result.top[1].score : 0;
  return best.index == result.model->unknown || best.score - second < kSureLead;
}

}  // namespace lookout

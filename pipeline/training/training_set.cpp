#include "pipeline/training/training_set.h"

#include <algorithm>

namespace lookout {

bool TrainingSet::has_counter_examples() const {
  return std::find(picture_classes.begin(), picture_classes.end(), classes) !=
         picture_classes.end();
}

std::vector<float> TrainingSet::weights(const std::vector<bool>& use) const {
  std::vector<std::size_t> counts(classes + 1);
  for (std::size_t i = 0; i < pictures(); ++i) counts[picture_classes[i]] += use[i] ? 1 : 0;
  std::vector<float> weights(pictures());
  for (std::size_t i = 0; i < pictures(); ++i) {
    if (!use[i]) continue;
    weights[i] = equal_classes ? 1 / static_cast<float>(counts[picture_classes[i]]) : 1;
  }
  return weights;
}

}  // namespace lookout

#include "pipeline/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace lookout {

void Head::apply(const float* direction, std::vector<float>& logits) const {
  const std::size_t width = weights.size() / outputs;
  logits.resize(outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    logits[i] = dot(weights.data() + i * width, direction, width) + biases[i];
  }
}

float Familiarity::similarity(const float* direction) const {
  std::vector<float> cosines(examples.size());
  for (std::size_t i = 0; i < cosines.size(); ++i) {
    cosines[i] = dot(examples[i], direction, examples.width());
  }
  const std::size_t count = std::min(neighbours, cosines.size());
  const auto end = cosines.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(cosines.begin(), end, cosines.end(), std::greater<>());
  return std::accumulate(cosines.begin(), end, 0.0F) / static_cast<float>(count);
}

float Familiarity::unknown(float similarity) const {
  return 1 / (1 + std::exp((similarity - threshold) * steepness));
}

ModelSpec spec_of_base(const ModelArchive& archive, ArchiveContents contents,
                       const StatedModel& stated) {
  contents.class_ids.clear();
  return read_spec(archive, contents, std::vector<std::string>(), stated);
}

}  // namespace lookout

#include "platform/teach/teach_preview.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace lookout {
namespace {

float nearness(const Embeddings& directions, const float* direction) {
  std::vector<float> cosines;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    cosines.push_back(dot(directions[i], direction, directions.width()));
  }
  const std::size_t count = std::min(TeachPreview::kNearest, cosines.size());
  const auto end = cosines.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(cosines.begin(), end, cosines.end(), std::greater<>());
  return std::accumulate(cosines.begin(), end, 0.0F) / static_cast<float>(count);
}

}  // namespace

void TeachPreview::add(const std::string& label, const float* direction, std::size_t width) {
  auto found = std::find_if(classes_.begin(), classes_.end(),
                            [&label](const Class& entry) { return entry.label == label; });
  if (found == classes_.end()) found = classes_.insert(found, {label, {}});
  found->directions.add_row(direction, width);
}

std::optional<Preview> TeachPreview::of(const float* direction) const {
  const auto taught = std::count_if(classes_.begin(), classes_.end(), [](const Class& entry) {
    return entry.directions.size() >= kLeastPictures;
  });
  if (taught < 2) return std::nullopt;
  Preview best{{}, -2, 0};
  float next = -2;
  for (const Class& entry : classes_) {
    const float similarity = nearness(entry.directions, direction);
    if (similarity > best.similarity) {
      next = best.similarity;
      best = {entry.label, similarity, 0};
    } else {
      next = std::max(next, similarity);
    }
  }
  best.lead = best.similarity - next;
  return best;
}

}  // namespace lookout

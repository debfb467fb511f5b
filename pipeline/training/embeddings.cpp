#include "pipeline/training/embeddings.h"

#include <cmath>
#include <numeric>

namespace lookout {

void Embeddings::add(const std::vector<float>& embedding) {
  const float length = std::sqrt(dot(embedding.data(), embedding.data(), embedding.size()));
  add_row(embedding.data(), embedding.size());
  if (length == 0) return;
  for (std::size_t i = values_.size() - width_; i < values_.size(); ++i) values_[i] /= length;
}

void Embeddings::add_row(const float* row, std::size_t width) {
  width_ = width;
  values_.insert(values_.end(), row, row + width);
}

float dot(const float* a, const float* b, std::size_t width) {
  return std::inner_product(a, a + width, b, 0.0F);
}

}  // namespace lookout

// The embeddings of pictures: the numbers from which a network's last layer makes its scores, as a
// direction (a vector of length 1).
#pragma once

#include <cstddef>
#include <vector>

namespace lookout {

// Rows of equal width, in one block of memory.
class Embeddings {
 public:
  std::size_t width() const { return width_; }
  std::size_t size() const { return width_ == 0 ? 0 : values_.size() / width_; }
  const float* operator[](std::size_t row) const { return values_.data() + row * width_; }
  const std::vector<float>& values() const { return values_; }

  // Takes the memory of so many rows at once. To be called when there is a row.
  void reserve(std::size_t rows) { values_.reserve(rows * width_); }

  // Appends the direction of `embedding`; the first one decides the width. Zeros stay zeros.
  void add(const std::vector<float>& embedding);
  // Appends a row that is a direction already.
  void add_row(const float* row, std::size_t width);

 private:
  std::size_t width_ = 0;
  std::vector<float> values_;
};

// The scalar product, summed from the first number to the last.
float dot(const float* a, const float* b, std::size_t width);

}  // namespace lookout

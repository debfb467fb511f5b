#include "pipeline/model/taps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lookout {

int round_half_up(double value) { return static_cast<int>(std::floor(value + 0.5)); }

Taps make_taps(int crop_start, int crop_size, int output_size) {
  constexpr int kOne = 1 << Taps::kWeightBits;
  Taps taps;
  const double scale = static_cast<double>(crop_size) / output_size;
  const double support = std::max(scale, 1.0);
  std::vector<double> exact;
  for (int i = 0; i < output_size; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, round_half_up(center - support));
    const int last = std::min(crop_size, round_half_up(center + support));
    exact.clear();
    double sum = 0;
    for (int p = first; p < last; ++p) {
      exact.push_back(std::max(0.0, 1.0 - std::abs((p + 0.5 - center) / support)));
      sum += exact.back();
    }
    Taps::Span span{crop_start + first, last - first, static_cast<int>(taps.weights.size())};
    // Differences of rounded sums: they are never negative, and sum to one exactly, so that an even
    // area keeps its value.
    double sum_so_far = 0;
    int fixed_so_far = 0;
    for (const double weight : exact) {
      sum_so_far += weight;
      const int fixed = round_half_up(sum_so_far / sum * kOne);
      taps.weights.push_back(static_cast<std::int16_t>(fixed - fixed_so_far));
      fixed_so_far = fixed;
    }
    taps.spans.push_back(span);
  }
  return taps;
}

Taps shared_taps(const Taps& taps, int shift) {
  Taps shared;
  for (const Taps::Span& span : taps.spans) {
    const int first = (span.first + shift) / 2;
    const int count = (span.first + shift + span.count - 1) / 2 - first + 1;
    const std::size_t offset = shared.weights.size();
    shared.weights.resize(offset + static_cast<std::size_t>(count));
    for (int i = 0; i < span.count; ++i) {
      const int sample = (span.first + shift + i) / 2 - first;
      std::int16_t& weight = *(shared.weights.data() + offset + sample);
      weight = static_cast<std::int16_t>(weight + *(taps.weights.data() + span.offset + i));
    }
    shared.spans.push_back({first, count, static_cast<int>(offset)});
  }
  return shared;
}

}  // namespace lookout

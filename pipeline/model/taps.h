// Which pixels of a line become a pixel of a scaled line, and with which weights.
#pragma once

#include <cstdint>
#include <vector>

namespace lookout {

// The source pixels `first`.. and their weights for each output position along one axis.
struct Taps {
  // A weight of one has kWeightBits of fraction; those of a span sum to one exactly.
  static constexpr int kWeightBits = 14;

  struct Span {
    int first = 0;
    int count = 0;
    int offset = 0;  // into weights
  };
  std::vector<Span> spans;
  std::vector<std::int16_t> weights;
};

// The first integer that is not below value - 1/2.
int round_half_up(double value);

// Triangle filter, as wide as the reduction: Pillow's BILINEAR with its antialiasing,
// https://pillow.readthedocs.io/en/stable/handbook/concepts.html#filters. Pixels outside of the
// crop do not count. Scaling up interpolates linearly.
Taps make_taps(int crop_start, int crop_size, int output_size);

// Taps of an axis where two pixels share a sample, the first of them `shift` pixels into a pair.
Taps shared_taps(const Taps& taps, int shift);

}  // namespace lookout

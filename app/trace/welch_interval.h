// Welch's interval of the difference of two means, and the samples that it holds for (B. L. Welch,
// Biometrika 34, 1947). A file of its own, since Boost's distribution takes 400 MB to compile.
#pragma once

#include <utility>
#include <vector>

namespace lookout {

using Samples = std::vector<double>;

// 0 of no samples.
double mean_of(const Samples& samples);

// Those that intervals are computed of: `values`, which are those of frames in their order, or of
// 20 values and more the means of ten blocks.
Samples independent_samples(const Samples& values);

// Of the difference of the means, with this probability. Both have values.
std::pair<double, double> welch_interval(const Samples& before, const Samples& after,
                                         double probability);

}  // namespace lookout

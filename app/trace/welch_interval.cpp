#include "app/trace/welch_interval.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace lookout {
namespace {

constexpr std::size_t kBlocks = 10;

// The square of the standard error of the mean, of at least two values.
double squared_error(const Samples& samples) {
  const double mean = mean_of(samples);
  double sum = 0;
  for (const double value : samples) sum += (value - mean) * (value - mean);
  const auto count = static_cast<double>(samples.size());
  return sum / (count - 1) / count;
}

}  // namespace

double mean_of(const Samples& samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

Samples independent_samples(const Samples& values) {
  if (values.size() < 2 * kBlocks) return values;
  Samples means;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const auto begin = static_cast<std::ptrdiff_t>(values.size() * block / kBlocks);
    const auto end = static_cast<std::ptrdiff_t>(values.size() * (block + 1) / kBlocks);
    means.push_back(mean_of(Samples(values.begin() + begin, values.begin() + end)));
  }
  return means;
}

std::pair<double, double> welch_interval(const Samples& before, const Samples& after,
                                         double probability) {
  const double difference = mean_of(after) - mean_of(before);
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (before.size() < 2 || after.size() < 2) return {-kInfinite, kInfinite};
  const double a = squared_error(before);
  const double b = squared_error(after);
  if (a + b <= 0) return {difference, difference};
  const double freedom = (a + b) * (a + b) /
                         (a * a / static_cast<double>(before.size() - 1) +
                          b * b / static_cast<double>(after.size() - 1));
  const boost::math::students_t distribution(freedom);
  const double half =
      boost::math::quantile(boost::math::complement(distribution, (1 - probability) / 2)) *
      std::sqrt(a + b);
  return {difference - half, difference + half};
}

}  // namespace lookout

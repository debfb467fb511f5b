#include "app/report/json.h"

#include <cmath>

#include "pipeline/results/format.h"

namespace lookout {

double rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale;
}

Json to_json(const Percentiles& percentiles, int decimals) {
  Json json;
  for (const auto& [name, time] : named(percentiles)) json[name] = rounded(to_ms(time), decimals);
  return json;
}

Json interval_json(const ConfidenceInterval& interval) {
  return {rounded(100 * interval.low, 2), rounded(100 * interval.high, 2)};
}

}  // namespace lookout

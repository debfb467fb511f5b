#include "app/output/json_parts.h"

#include <cmath>

#include "pipeline/results/format.h"

namespace lookout {

double rounded(double value) { return std::round(value * 1000) / 1000; }

nlohmann::ordered_json json_of(const Percentiles& p) {
  return {{"p50", rounded(to_ms(p.p50))},
          {"p95", rounded(to_ms(p.p95))},
          {"p99", rounded(to_ms(p.p99))},
          {"max", rounded(to_ms(p.max))}};
}

}  // namespace lookout

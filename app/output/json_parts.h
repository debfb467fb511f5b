// What the JSON of several sub-commands has in common.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/results/statistics.h"

namespace lookout {

template <typename Number>
nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

// To three decimals: of milliseconds that is what was measured.
double rounded(double value);

// p50, p95, p99 and max, in milliseconds, rounded so.
nlohmann::ordered_json json_of(const Percentiles& percentiles);

}  // namespace lookout

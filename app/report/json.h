// The common parts of the sub-commands' JSON reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pipeline/core/json_text.h"
#include "pipeline/results/statistics.h"
#include "pipeline/training/calibration.h"

namespace lookout {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// To so many decimals. Three keep the microseconds of a time in milliseconds.
double rounded(double value, int decimals = 3);

// Of shares, in percent: [90.12, 96.3].
Json interval_json(const ConfidenceInterval& interval);

// p50, p95, p99 and max, in milliseconds, rounded.
Json to_json(const Percentiles& percentiles, int decimals = 3);

}  // namespace lookout

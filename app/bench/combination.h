// One combination that `lookout bench` measures in a process of its own, and the JSON objects
// between the two processes: the combination goes in, the outcome comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/bench/bench_result.h"
#include "app/options/options.h"

namespace lookout {

struct Combination {
  CameraOptions camera;
  ModelOptions model;
  std::uint64_t frames = 0;  // the measurement ends after so many frames; 0: by camera.timeout
  std::string log_level;
};

// How a measurement ended: with a result, with a failure, or, when it was stopped before the first
// measured frame, with neither.
struct Outcome {
  std::optional<BenchResult> result;
  int exit_status = 0;  // of a failure; 0: there was none
  std::string failure;  // the sentence of the Error
};

std::string to_json(const Combination& combination);
std::string to_json(const Outcome& outcome);

// Throw Error(kInternal) for a text that to_json() did not write.
Combination combination_from_json(const std::string& json);
Outcome outcome_from_json(const std::string& json);

}  // namespace lookout

// Measures one combination of a model, threads and workers. The process must not have measured
// anything before: engine, threads and memory belong to the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "app/bench/bench_result.h"
#include "app/options/options.h"
#include "pipeline/core/error.h"

namespace lookout {

// What is measured in a process of its own.
struct Combination {
  CameraOptions camera;
  ModelOptions model;
  std::uint64_t frames = 0;    // the measurement ends after so many frames; 0: by camera.timeout
  std::optional<double> pace;  // see BenchOptions
  bool still = false;          // see BenchOptions
};

// Runs the pipeline of `lookout run`, without its reporters. Frames are counted after a warm-up,
// until there are `combination.frames` of them (0: any number), the time `camera.timeout` is over
// (0: any time), or `stop` becomes true. The first frames of a source that is not live are read
// beforehand and replayed, at the rate of `pace` where there is one. For `still` the run goes on:
// five times without and with results that are reused, for 3 s or `frames` each. Returns nothing
// when it was stopped before the first counted frame. Throws Error as a run does, kNoInput when no
// frame came after the warm-up, and kUsage for a pace with a source that has a rate of its own.
std::optional<BenchResult> measure(const Combination& combination, const std::atomic<bool>& stop);

// What a pace with this source is: kUsage.
Error pace_of_live(const std::string& source);

}  // namespace lookout

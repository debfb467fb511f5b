// Measures one combination of a model, threads and workers in this process, which has not done
// anything else: engine, threads and memory belong to the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "app/bench/bench_result.h"
#include "app/options/options.h"

namespace lookout {

// Runs the pipeline of `lookout run`. `options`: of a run; what it would report is left out. Frames
// are counted after a warm-up, until there are `frames` of them (0: any number) or options.timeout
// (0: any time) is over or `stop` becomes true. Of a source that is not live the first frames are
// read beforehand and replayed.
// Returns nothing when it was stopped before the first of them. Throws Error: what a run would, and
// kNoInput when no frame came after the warm-up.
std::optional<BenchResult> measure(const RunOptions& options, std::uint64_t frames,
                                   const std::atomic<bool>& stop);

}  // namespace lookout

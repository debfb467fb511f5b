// lookout bench: measures models, threads and workers on this machine.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "app/bench/measure.h"
#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Opens every model, measures every combination, each in a process of its own, and gives `print`
// the report, with a newline at its end. The report also goes to the file of --report, unless
// nothing was measured. When `stop` becomes true, the report has the measurements so far and says
// that it is incomplete, and bench() returns false. Throws Error: when a model cannot be opened;
// and, after printing, the failure of the first combination that failed, or when --report cannot be
// written.
//
// With `options.combination`, which a process of bench starts another one with, that combination is
// measured in this process, and bench() returns true. `print` gets the exit status in a line, and
// then the measurement's message or, when it failed, the sentence of the Error; nothing when it was
// stopped before the first measured frame.
bool bench(const BenchOptions& options, const std::atomic<bool>& stop, const WritePart& print);

// All combinations of a model, a number of threads and a number of workers. Several workers have
// one thread each. Throws Error(kUsage) when no combination is left.
std::vector<Combination> combinations(const BenchOptions& options, int processors);

}  // namespace lookout

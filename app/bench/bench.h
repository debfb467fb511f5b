// lookout bench: measures models, threads and workers on this machine.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Opens every model, measures every combination, each in a process of its own, and gives `print`
// the report, with a newline at its end; --report is written, too, unless nothing was measured.
// Ends early, with what was measured so far and a word that this is not all, when `stop` becomes
// true. Throws Error: what a model that cannot be opened does; and, after printing, what the first
// combination that fails does, or that --report cannot be written.
void bench(const BenchOptions& options, const std::atomic<bool>& stop, const WritePart& print);

// The combinations: options of one model, one number of threads and one of workers each. Several
// workers have one thread each. Throws Error(kUsage) when no combination is left.
std::vector<BenchOptions> combinations(const BenchOptions& options, int processors);

// The command line, less the program's name, that measures one combination and writes JSON.
std::vector<std::string> arguments_of(const BenchOptions& combination);

}  // namespace lookout

// lookout eval: counts how often a model is right about pictures whose classes are known.
#pragma once

#include <atomic>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Gives `print` the report, with a newline at its end; --output is written, too, unless no picture
// was classified. Ends early, with what was classified so far and a word that this is not all, when
// `stop` becomes true. Throws Error; when --output cannot be written, after printing.
void eval(const EvalOptions& options, const std::atomic<bool>& stop, const WritePart& print);

}  // namespace lookout

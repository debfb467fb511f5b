// lookout eval: counts how often a model is right about pictures whose classes are known.
#pragma once

#include <atomic>
#include <string>

#include "app/options.h"

namespace lookout {

// The report, with a newline at its end; --output is written, too, unless no picture was
// classified. Ends early, with what was classified so far and a word that this is not all, when
// `stop` becomes true. Throws Error.
std::string eval(const EvalOptions& options, const std::atomic<bool>& stop);

}  // namespace lookout

// lookout eval: counts how often a model is right about pictures whose classes are known.
#pragma once

#include <atomic>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Classifies the pictures and gives `print` the report, with a newline at its end. The report also
// goes to the files of --output and --report, unless no picture was classified. When `stop` becomes
// true, the report has the pictures so far and says that it is incomplete, and eval() returns
// false. Throws Error; when a file cannot be written, after printing.
bool eval(const EvalOptions& options, const std::atomic<bool>& stop, const WritePart& print);

}  // namespace lookout

// lookout run: builds the pipeline that the options describe, and runs it.
#pragma once

#include <atomic>

#include "app/options.h"

namespace lookout {

// Ends with the source, the timeout, or when `stop` becomes true. Throws Error.
void run(const RunOptions& options, std::atomic<bool>& stop);

}  // namespace lookout

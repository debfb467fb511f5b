// lookout run: builds the pipeline that the options describe, and runs it.
#pragma once

#include <atomic>

#include "app/options/options.h"
#include "app/run/reload.h"
#include "pipeline/core/wake_event.h"

namespace lookout {

// Ends with the source, the timeout, or when `stop` becomes true. When `operators_asked` becomes
// true, the table of the operators goes to the log. Who sets one of them wakes `wake`. A run with a
// live source, or without one, reloads when it is asked to. Throws Error, among others
// Error(kNoInput) at the end of a source of which nothing could be read.
void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked,
         const WakeEvent& wake, const ReloadRequests& reload);

}  // namespace lookout

// lookout train: makes a model for the user's classes.
#pragma once

#include <atomic>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Trains a new last layer for a base on the pictures, writes the archive, and prints how good it
// is. When `stop` becomes true before that, nothing is written, the log says so, and it returns
// false. The same pictures and base give the same archive. Throws Error.
bool train(const TrainOptions& options, const std::atomic<bool>& stop, const WritePart& print);

}  // namespace lookout

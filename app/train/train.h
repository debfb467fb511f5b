// lookout train: makes a model for classes of one's own.
#pragma once

#include <atomic>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Trains a new last layer for a base on the pictures, writes the archive, and prints how good it
// is. When `stop` becomes true before that, nothing is written, and the log says so. The same
// pictures and base give the same archive. Throws Error.
void train(const TrainOptions& options, const std::atomic<bool>& stop, const WritePart& print);

}  // namespace lookout

// lookout train: makes a model for the user's classes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "app/options/options.h"
#include "platform/system/atomic_file.h"

namespace lookout {

// Trains a new last layer for a base on the pictures, writes the archive, and prints how good it
// is. When `stop` becomes true before that, nothing is written, the log says so, and it returns
// false. The same pictures and base give the same archive. Throws Error.
bool train(const TrainOptions& options, const std::atomic<bool>& stop, const WritePart& print);

// "12 of 244 pictures, 8 s left"; without a time at the start. `what` is counted.
std::string progress_text(const std::string& what, std::size_t done, std::size_t all,
                          std::chrono::duration<double> passed);

}  // namespace lookout

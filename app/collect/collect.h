// lookout collect: takes the pictures that a model is trained with.
#pragma once

#include <atomic>

#include "app/options/options.h"

namespace lookout {

// Writes a frame of the source, in the size that it has, every `options.every` into the folder of
// the label, with SnapshotFolder's names. Frames of cameras by their time of capture, of videos by
// their own. Pictures that are nearly the same as the one before are left out and counted: nothing
// moved, and the light did not change. Ends with the source, the timeout, or when `stop` becomes
// true. Throws Error: of the source, and Error(kOutput) or Error(kPermission) when a picture cannot
// be written.
void collect(const CollectOptions& options, const std::atomic<bool>& stop);

}  // namespace lookout

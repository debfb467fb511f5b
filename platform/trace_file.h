// Where a trace goes.
#pragma once

#include <filesystem>

#include "pipeline/trace.h"

namespace lookout {

// Makes sure at once, without changing anything, that the file can be written; returns what saves a
// trace there, as a whole or not at all. Both throw Error(kPermission) or Error(kOutput).
Trace::Save save_to_file(const std::filesystem::path& path);

}  // namespace lookout

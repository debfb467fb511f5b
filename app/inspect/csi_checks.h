// What lookout doctor says of the needs of CSI cameras.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "app/inspect/check.h"
#include "platform/cameras/libcamera_loader.h"

namespace lookout {

// libcamera with lookout's module and libcamera's own modules for image processing (IPA), and the
// memory that cameras take buffers from. `libcamera` throws Error when there is none. `root`: of
// usr and dev.
std::vector<Check> check_csi(const std::filesystem::path& root,
                             const std::function<LoadedLibcamera()>& libcamera);

}  // namespace lookout

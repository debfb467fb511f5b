// Which of libcamera's cameras a name means: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "platform/cameras/libcamera_module.h"

namespace lookout {

// The place in `cameras` of the one that `name` means: a number; else a model or an id; else a part
// of one. Nothing when that is none of them, or several.
std::optional<std::size_t> find_camera(const std::vector<LibcameraCamera>& cameras,
                                       const std::string& name);

// `0 imx708 (/base/soc/...), 1 ...`
std::string to_text(const std::vector<LibcameraCamera>& cameras);

}  // namespace lookout

// Finds a camera of libcamera by its name. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "platform/cameras/libcamera_module.h"

namespace lookout {

// The index of the camera called `name`: a number, or a model or id, or a part of one. Empty when
// no camera or more than one fits.
std::optional<std::size_t> find_camera(const std::vector<LibcameraCamera>& cameras,
                                       const std::string& name);

// `0 imx708 (/base/soc/...), 1 ...`
std::string to_text(const std::vector<LibcameraCamera>& cameras);

}  // namespace lookout

// CSI cameras, through the libcamera module, which the first call loads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/source.h"
#include "platform/cameras/libcamera_module.h"
#include "platform/cameras/source_options.h"

namespace lookout {

// The cameras that libcamera lists, in its order: the first is csi://0. Throws Error(kUnsupported)
// when the module is missing or cannot be loaded, for instance without its version of libcamera.
std::vector<LibcameraCamera> list_csi_cameras();

// `camera`: see find_camera(). Throws Error(kUnsupported) as above, Error(kNoInput) when there is
// no such camera, Error(kDeviceLost) when another program has it, Error(kPermission).
std::unique_ptr<Source> open_csi_camera(const std::string& camera, const SourceOptions& options);

}  // namespace lookout

// Loads plug-ins with devices of their own. Included by pipeline/torch/*.cpp only.
#pragma once

#include <string>

#include "pipeline/core/device.h"
#include "pipeline/torch/device_plugin.h"

namespace lookout {

// The library of the options' device.
std::string device_plugin_path(const DeviceOptions& options);

// Loads that library, which stays loaded, and returns its table. Throws Error(kNoInput) when it is
// not there, or made for another lookout or LibTorch, Error(kBadData) when it is no plug-in,
// Error(kUsage) when its device has another name.
const DevicePlugin& load_device_plugin(const DeviceOptions& options);

}  // namespace lookout

// A plug-in of another interface or for another LibTorch than this one.
#include <torch/version.h>

#include "pipeline/torch/device_plugin.h"

extern "C" const lookout::DevicePlugin* lookout_device_v1() {
#ifdef OTHER_INTERFACE
  static const lookout::DevicePlugin plugin{
      lookout::kDeviceInterface + 1, TORCH_VERSION, "fake", {}, {}, {}, {}};
#else
  static const lookout::DevicePlugin plugin{
      lookout::kDeviceInterface, "2.0.1", "fake", {}, {}, {}, {}};
#endif
  return &plugin;
}

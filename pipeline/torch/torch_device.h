// A custom device, which a plug-in brings. Included by pipeline/torch/*.cpp only.
//
// Nothing is registered with LibTorch before the first device is opened. Operators that the device
// has no kernel for fall back to the CPU: the Preparation of a model may always use that, frames
// may unless the options forbid it.
#pragma once

#include <c10/core/Device.h>

#include <functional>
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

class TorchDevice {
 public:
  // Loads the plug-in and registers the fallback. A process has one device, which stays; the last
  // call decides whether the fallback is forbidden. Throws Error(kUnsupported) when LibTorch is
  // older than 2.1 or the process has another device, what load_device_plugin() throws, and
  // Error(kInternal) when the plug-in fails.
  static TorchDevice& open(const DeviceOptions& options);

  TorchDevice(const TorchDevice&) = delete;
  TorchDevice& operator=(const TorchDevice&) = delete;

  c10::Device device() const { return {c10::DeviceType::PrivateUse1, 0}; }

  // While one lives, its thread loads and prepares a model.
  class Preparation {
   public:
    Preparation();
    ~Preparation();
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;
  };

  // Runs a frame on the calling thread and returns what the device took of it.
  DeviceUse measure(const std::function<void()>& frame);

  // Why the calling thread's last frame failed: the sentence about an operator that must not fall
  // back; empty: another reason. The next call returns nothing.
  static std::string take_refusal();

 private:
  explicit TorchDevice(const DeviceOptions& options);
  void register_fallback();

  const DeviceOptions options_;
  const DevicePlugin& plugin_;
};

}  // namespace lookout

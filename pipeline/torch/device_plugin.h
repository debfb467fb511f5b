// Between lookout and a plug-in that gives LibTorch a device of its own: what its author includes.
//
// LibTorch keeps one place for a device that it does not know, PrivateUse1. A plug-in is a shared
// library that fills it: its kernels (TORCH_LIBRARY_IMPL(aten, PrivateUse1, ...)), allocator, guard
// and hooks are registered when the library is loaded, its name in open(). It is built with the
// headers of the LibTorch that runs it, and linked with nothing else of lookout; models/devices/
// has a complete one. Operators without a kernel run on the CPU: lookout registers the fallback for
// them, counts what falls back and can forbid it, so a plug-in must register none. Views have no
// fallback, since memory cannot be shared across devices: a plug-in has kernels for
// empty.memory_format, empty_strided, _copy_from, _copy_from_and_resize, view, as_strided,
// _reshape_alias and resize_ at least.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

namespace lookout {

// Changes with every change of DevicePlugin.
inline constexpr int kDeviceInterface = 1;

// Returned by the plug-in's entry, `extern "C" const DevicePlugin* lookout_device_v1()`.
inline constexpr const char* kDeviceEntry = "lookout_device_v1";

// What calls cost. A multiplication with its addition counts once.
struct DeviceCosts {
  std::uint64_t multiply_adds = 0;
  std::uint64_t bytes_read = 0;     // of the inputs' elements
  std::uint64_t bytes_written = 0;  // of the outputs' elements
  std::uint64_t live_bytes = 0;     // of the device's memory, now
  std::uint64_t peak_bytes = 0;     // the most of it since reset()
};

// Functions report an error by throwing a std::exception. Null where "may be null" is said.
struct DevicePlugin {
  int interface;              // kDeviceInterface
  const char* torch_version;  // TORCH_VERSION
  const char* name;           // letters and digits, in lower case
  // Called once, before any tensor is on the device: opens the hardware and names the device by
  // c10::register_privateuse1_backend().
  void (*open)();
  // Both may be null: the plug-in counts nothing. The costs of all calls since reset(), or since
  // the start. lookout asks around each call, on the thread that makes it, in one frame.
  DeviceCosts (*costs)();
  void (*reset)();
  // May be null. An operator of a measured frame has fallen back: `inputs` are its arguments and
  // `outputs` its results, on the device. For a plug-in that counts the costs of these, too.
  void (*fallen_back)(const c10::OperatorHandle& op, const std::vector<c10::IValue>& inputs,
                      const std::vector<c10::IValue>& outputs);
};

}  // namespace lookout

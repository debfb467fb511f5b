// A custom device that an engine computes on, and what it takes of a model.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace lookout {

struct DeviceOptions {
  std::string name;              // empty: the engine's own devices
  std::string plugin;            // a library; empty: the one of this name beside the engine
  bool forbid_fallback = false;  // refuse models with operators that the device has no kernel for
};

// The calls of one operator in one layer, in a frame.
struct DeviceCalls {
  std::string op;     // "aten::add.Tensor"
  std::string layer;  // "features.3.conv.0"; empty: not known, or the model itself
  std::uint64_t on_device = 0;
  std::uint64_t fallen_back = 0;  // to the CPU
  std::uint64_t bytes_moved = 0;  // by fallen calls: their tensors to the CPU, and back
  std::chrono::nanoseconds time{};
  // Of a device that counts them; see DeviceCosts.
  std::uint64_t multiply_adds = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t peak_bytes = 0;  // live while a call runs, without what lived before the frame
};

// What a device took of one frame of a model.
struct DeviceUse {
  std::string device;                // its name; empty: there is none
  std::string plugin;                // its library's path
  std::vector<DeviceCalls> calls;    // in the order of the first ones
  std::uint64_t bytes_in = 0;        // of the image, which moves to the device
  std::uint64_t bytes_out = 0;       // of the scores, which move back
  std::chrono::nanoseconds time{};   // of the frame
  bool counts_costs = false;         // the device counts what calls cost
  std::uint64_t resident_bytes = 0;  // live before the frame: the weights; of a device that counts
};

// Of all calls. `layer` and `op` are empty; the peak is the highest.
inline DeviceCalls total_of(const DeviceUse& use) {
  DeviceCalls total;
  for (const DeviceCalls& calls : use.calls) {
    total.on_device += calls.on_device;
    total.fallen_back += calls.fallen_back;
    total.bytes_moved += calls.bytes_moved;
    total.time += calls.time;
    total.multiply_adds += calls.multiply_adds;
    total.bytes_read += calls.bytes_read;
    total.bytes_written += calls.bytes_written;
    total.peak_bytes = std::max(total.peak_bytes, calls.peak_bytes);
  }
  return total;
}

// Of the calls that fell back.
inline std::chrono::nanoseconds fallen_time(const DeviceUse& use) {
  std::chrono::nanoseconds time{};
  for (const DeviceCalls& calls : use.calls) {
    if (calls.fallen_back > 0) time += calls.time;
  }
  return time;
}

}  // namespace lookout

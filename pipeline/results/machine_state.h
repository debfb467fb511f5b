// The values of the machine that can slow it down, at one moment.
#pragma once

#include <cstdint>
#include <optional>

namespace lookout {

// Empty: not reported by this machine.
struct MachineState {
  // A Raspberry Pi 4 lowers its clock from this temperature on, in degrees Celsius.
  static constexpr double kHot = 80;

  std::optional<double> temperature;  // degrees Celsius
  std::optional<double> clock_mhz;
  std::optional<std::uint32_t> throttled;  // the Raspberry Pi firmware's bits
  // Of these bits the kernel tells the lowest alone, whether the voltage is too low now.
  bool voltage_alone = false;
};

}  // namespace lookout

// What may slow the machine down, at one moment.
#pragma once

#include <cstdint>
#include <optional>

namespace lookout {

// What nothing tells is empty.
struct MachineState {
  // Degrees Celsius, from which on a Raspberry Pi 4 lowers its clock.
  static constexpr double kHot = 80;

  std::optional<double> temperature;  // degrees Celsius
  std::optional<double> clock_mhz;
  std::optional<std::uint32_t> throttled;  // the Raspberry Pi firmware's bits
};

}  // namespace lookout

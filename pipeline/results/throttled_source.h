// Which file of the kernel tells that the machine is throttled.
#pragma once

#include "pipeline/results/machine_state.h"

namespace lookout {

// "get_throttled", or "rpi_volt", which tells the lowest bit alone. Empty when nothing tells any.
inline const char* throttled_source(const MachineState& machine) {
  if (!machine.throttled) return "";
  return machine.voltage_alone ? "rpi_volt" : "get_throttled";
}

}  // namespace lookout

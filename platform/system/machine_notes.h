// Sentences about what slows this machine down, and what to do about it: for doctor, and for the
// log at the start of a run. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "platform/system/system_info.h"

namespace lookout {

// About a governor that lowers the clock while frames come; empty: it does not, or is not known.
std::string governor_note(const SystemInfo& system);

// About under-voltage and a clock that was lowered, now and since the start of the machine, with
// the source that tells it; empty: nothing of that is known to have happened.
std::string power_note(const MachineState& state);

// About a limit of heat, in degrees Celsius, that does not do what it is set for; empty: it does,
// or there is none.
std::string heat_note(const MachineState& state, std::optional<double> limit);

}  // namespace lookout

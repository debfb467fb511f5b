// lookout mqtt forget: removes a camera from the broker.
#pragma once

#include <string>

#include "app/options/options.h"

namespace lookout {

// See forget_camera(). Returns what was done, with a newline. Throws as resolve_mqtt() and
// forget_camera(), and Error(kUsage) when no broker is set.
std::string forget_mqtt(const RunOptions& options, bool all_machines);

}  // namespace lookout

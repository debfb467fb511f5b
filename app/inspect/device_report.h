// What a custom device takes of a model, as lookout inspect tells it: pure functions.
#pragma once

#include <vector>

#include "app/report/report.h"
#include "pipeline/core/device.h"
#include "pipeline/core/json_text.h"

namespace lookout {

// Null when there is no device.
nlohmann::ordered_json device_json(const DeviceUse& use);

// A summary, a table by operator, and one by operator and layer. Costs are in the tables when the
// device counts them. Empty when there is no device.
std::vector<Part> device_parts(const DeviceUse& use);

}  // namespace lookout

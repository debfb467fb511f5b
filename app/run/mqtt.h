// MQTT in a run, and the commands about it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "app/options/options.h"
#include "pipeline/core/reporter.h"
#include "pipeline/results/run_info.h"
#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// Throws Error(kUnsupported) when libmosquitto or the module is missing, Error(kConfig) when the
// options do not go together or a password is empty, and what read_input() throws for a file.
void check_mqtt(const MqttOptions& options);

// Null when nothing is to be published. `paused`: set by commands; null: the source cannot be
// paused. Throws as check_mqtt().
std::unique_ptr<Reporter> make_mqtt_reporter(const RunOptions& options, const RunInfo& info,
                                             std::shared_ptr<MqttCounters> counters,
                                             const std::shared_ptr<std::atomic<bool>>& paused);

// Connects to the broker as a run would, and publishes nothing. Returns a sentence about it. Throws
// Error(kDeviceLost) when that fails, and as check_mqtt().
std::string try_mqtt(const MqttOptions& options);

// Removes a camera from the broker, see forget_camera(). Returns what was done, with a newline.
std::string forget_mqtt(const RunOptions& options, bool all_machines);

}  // namespace lookout

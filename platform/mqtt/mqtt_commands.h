// What comes from the broker: a pure function.
#pragma once

#include <optional>

#include "platform/mqtt/mqtt_topics.h"
#include "platform/mqtt/mqtt_transport.h"

namespace lookout {

enum class MqttCommand {
  kEnable,     // classify, again
  kDisable,    // pause, and release the camera
  kSnapshot,   // publish a picture
  kRepublish,  // Home Assistant has started: it has to hear everything again
};

// Nothing for a message that is none. Commands that are retained are none: an old one would come
// with every connection. `commands`: whether any but kRepublish are permitted.
std::optional<MqttCommand> parse_command(const MqttMessage& message, const MqttTopics& topics,
                                         bool commands);

}  // namespace lookout

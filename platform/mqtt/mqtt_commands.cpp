#include "platform/mqtt/mqtt_commands.h"

namespace lookout {

std::optional<MqttCommand> parse_command(const MqttMessage& message, const MqttTopics& topics,
                                         bool commands) {
  if (!topics.birth.empty() && message.topic == topics.birth) {
    return message.payload == "online" ? std::optional(MqttCommand::kRepublish) : std::nullopt;
  }
  if (!commands || message.retained) return std::nullopt;
  if (message.topic == topics.take_snapshot) return MqttCommand::kSnapshot;
  if (message.topic != topics.set_enabled) return std::nullopt;
  if (message.payload == "ON") return MqttCommand::kEnable;
  if (message.payload == "OFF") return MqttCommand::kDisable;
  return std::nullopt;
}

}  // namespace lookout

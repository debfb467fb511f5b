// What goes wrong between lookout and a broker, in sentences for the log: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "platform/mqtt/mqtt_owner.h"
#include "platform/mqtt/mqtt_transport.h"

namespace lookout {

// What the sentences name.
struct MqttParty {
  std::string broker;     // as logs show it: "mqtt://broker:1883"
  std::string client_id;  // ours
  bool is_service = false;
};

// When in the life of a connection it fails.
enum class MqttPhase { kConnecting, kConnected };

// Each is without "mqtt: " at its beginning and without a full stop, and names the way out.
std::string problem_text(const MqttFailure& failure, MqttPhase phase, const MqttParty& party);
// For connections that are lost soon, again and again.
std::string flapping_text(const MqttParty& party);
// For a connection that the broker refuses or ends; codes of MQTT 3.1.1 and 5.
std::string refusal_text(int reason, const MqttParty& party);
// For a message that is too large, one that is refused otherwise, and a subscription.
std::string too_large_text(const std::string& topic, std::size_t bytes, const MqttParty& party);
std::string refused_message_text(const std::string& topic, int reason, const MqttParty& party);
std::string refused_subscription_text(int reason, const MqttParty& party);
// For a camera whose topics another machine has. `base`: what they begin with. `available`: what
// the other one says of itself; may be any text.
std::string foreign_topics_text(const std::string& base, const MqttMachine& other,
                                const std::string& available, const std::string& camera);

// Whether the broker does not speak this version of MQTT.
bool is_version_refused(int reason);

// MQTT 5's code for a message that is too large.
inline constexpr int kMqttTooLarge = 149;
// From this code on something was refused.
inline constexpr int kMqttRefused = 128;

}  // namespace lookout

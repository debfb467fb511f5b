// Where an MQTT broker is, as the user writes it.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

struct MqttAddress {
  std::string host;        // a name or an IP address without brackets; empty: a Unix socket
  std::uint16_t port = 0;  // of a host
  std::string path;        // of a Unix socket
  std::string user;        // may be empty
  bool tls = false;
};

// `mqtt://[USER@]HOST[:1883]`, `mqtts://[USER@]HOST[:8883]` or `mqtt+unix:[USER@]PATH`. Throws
// Error(kUsage) for another text, which the sentence does not repeat when it has a password. Pure:
// nothing is looked up.
MqttAddress parse_mqtt_address(const std::string& text);

// What logs show: `mqtt://broker:1883`, without the user.
std::string to_text(const MqttAddress& address);

}  // namespace lookout

#include "platform/mqtt/mqtt_problems.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "pipeline/core/printable.h"

namespace lookout {
namespace {

// " (detail)", or nothing.
std::string in_brackets(const std::string& detail) {
  return detail.empty() ? detail : fmt::format(" ({})", printable(detail));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// For a service, whose unit gives it no network.
std::string network_hint(const MqttParty& party) {
  const bool needs_network = party.is_service && !contains(party.broker, "unix:");
  return needs_network ? "; the service has no network unless its unit says so: see "
                         "/usr/share/doc/lookout/examples/mqtt.conf"
                       : "";
}

std::string tls_text(const std::string& detail, const MqttParty& party) {
  if (contains(detail, "host name")) {
    return fmt::format(
        "the certificate of {} is for another name: mqtt.url has to have one that "
        "is in it",
        party.broker);
  }
  if (contains(detail, "certificate verify failed")) {
    return fmt::format(
        "the certificate of {} cannot be trusted{}: set mqtt.ca to the file of the "
        "CA that issued it",
        party.broker, in_brackets(detail));
  }
  if (contains(detail, "Unable to load") || contains(detail, "inconsistent")) {
    return fmt::format("mqtt.ca, mqtt.certificate or mqtt.key cannot be used{}",
                       in_brackets(detail));
  }
  return fmt::format("{} and lookout cannot agree on TLS{}: is its port one for TLS?", party.broker,
                     in_brackets(detail));
}

std::string connecting_text(const MqttFailure& failure, const MqttParty& party) {
  const std::string detail = in_brackets(failure.detail);
  switch (failure.kind) {
    case MqttFailure::Kind::kLost:
      return fmt::format(
          "{} closed the connection before it answered{}: is its port one for MQTT, "
          "and with TLS (mqtts://)?",
          party.broker, detail);
    case MqttFailure::Kind::kSilent:
      return fmt::format("{} did not answer within 10 s: is it an MQTT broker?{}", party.broker,
                         network_hint(party));
    default:
      return fmt::format("{} cannot be reached{}: is a broker running there?{}", party.broker,
                         detail, network_hint(party));
  }
}

// A code of version 3.1.1 as that of version 5.
int as_version_5(int reason) {
  constexpr std::array<int, 5> kOfVersion311{132, 133, 136, 134, 135};
  const bool is_old = reason >= 1 && reason <= static_cast<int>(kOfVersion311.size());
  return is_old ? kOfVersion311[static_cast<std::size_t>(reason) - 1] : reason;
}

}  // namespace

bool is_version_refused(int reason) { return as_version_5(reason) == 132; }

std::string problem_text(const MqttFailure& failure, MqttPhase phase, const MqttParty& party) {
  if (failure.kind == MqttFailure::Kind::kTls) return tls_text(failure.detail, party);
  if (failure.kind == MqttFailure::Kind::kName) {
    return fmt::format("the name in {} cannot be resolved{}: check mqtt.url{}", party.broker,
                       in_brackets(failure.detail), network_hint(party));
  }
  if (phase == MqttPhase::kConnecting) return connecting_text(failure, party);
  if (failure.kind == MqttFailure::Kind::kSilent) {
    return fmt::format("{} does not answer any more", party.broker);
  }
  return fmt::format("the connection to {} was lost{}", party.broker, in_brackets(failure.detail));
}

// Mosquitto does not tell a client why it closes a connection.
std::string flapping_text(const MqttParty& party) {
  return fmt::format(
      "the connection to {} is lost again and again: has another client the name {} "
      "(two runs of this machine with the same camera.name)? The broker's log tells",
      party.broker, party.client_id);
}

namespace {

// For a client that the broker does not let in; empty for other codes.
std::string login_text(int reason, const MqttParty& party) {
  switch (reason) {
    case 132:
      return fmt::format("{} speaks neither MQTT 5 nor 3.1.1", party.broker);
    case 133:
      return fmt::format("{} does not accept the client's name {}", party.broker, party.client_id);
    case 134:
      return fmt::format(
          "{} refuses the user name or password: check the user in mqtt.url, and "
          "mqtt.password-file",
          party.broker);
    case 135:
    case 138:
      return fmt::format(
          "{} does not let this client in: check the user in mqtt.url, "
          "mqtt.password-file, and the broker's access list",
          party.broker);
    default:
      return {};
  }
}

}  // namespace

// https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html, 2.4
std::string refusal_text(int reason, const MqttParty& party) {
  const std::string& broker = party.broker;
  const int code = as_version_5(reason);
  if (std::string text = login_text(code, party); !text.empty()) return text;
  switch (code) {
    case 136:
    case 137:
    case 139:
    case 151:
      return fmt::format("{} is busy or stopping", broker);
    case 142:
      return fmt::format(
          "another client took the name {}: two runs of this machine have the same "
          "camera.name, or the machine was cloned with its /etc/machine-id",
          party.client_id);
    case kMqttTooLarge:
      return fmt::format("{} closed the connection, since a message was too large", broker);
    case 156:
    case 157:
      return fmt::format("{} says that clients should use another broker: change mqtt.url", broker);
    default:
      return fmt::format("{} ended the connection with MQTT's code {}", broker, reason);
  }
}

std::string too_large_text(const std::string& topic, std::size_t bytes, const MqttParty& party) {
  constexpr std::size_t kKb = 1024;
  return fmt::format(
      "{} takes no message of {} KB, as {} has: such are left out from now on; raise "
      "its limit of size, or set mqtt.pictures=none",
      party.broker, bytes / kKb + 1, printable(topic));
}

std::string refused_message_text(const std::string& topic, int reason, const MqttParty& party) {
  if (reason == 135) {
    return fmt::format("{} does not permit {} to be written: add it to the broker's access list",
                       party.broker, printable(topic));
  }
  return fmt::format("{} refuses {} with MQTT's code {}", party.broker, printable(topic), reason);
}

std::string foreign_topics_text(const std::string& base, const MqttMachine& other,
                                const std::string& available, const std::string& camera) {
  // Anybody may have written something else.
  const bool is_known = available == "online" || available == "offline" || available == "stopped";
  const std::string state = is_known ? ", which is " + available : "";
  return fmt::format(
      "{} belongs to {}{}: nothing is published until one of the two cameras has another "
      "camera.name or, when the other one is gone for good, 'lookout mqtt forget --all-machines "
      "--set camera.name={}' has removed it",
      printable(base), to_text(other), state, printable(camera));
}

std::string refused_subscription_text(int reason, const MqttParty& party) {
  return fmt::format(
      "{} does not permit lookout to listen (code {}): commands and Home Assistant's "
      "start are not noticed; add the topics to the broker's access list",
      party.broker, reason);
}

}  // namespace lookout

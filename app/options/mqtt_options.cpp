// The settings of MQTT.
#include "app/options/options.h"
#include "app/options/settings.h"
#include "platform/mqtt/mqtt_address.h"
#include "platform/mqtt/mqtt_topics.h"

namespace lookout {
namespace {

Value mqtt_address(std::string& member) {
  Value value = text(member, "URL");
  value.set = [&member](const std::string& text) {
    if (!text.empty()) parse_mqtt_address(text);
    member = text;
    return true;
  };
  return value;
}

Value topic_prefix(std::string& member, bool may_be_empty) {
  Value value = text(member, "TOPIC");
  value.expected = "the beginning of topics, without wildcards and without '/' at its ends";
  value.set = [&member, may_be_empty](const std::string& text) {
    if (!is_topic_prefix(text) && !(text.empty() && may_be_empty)) return false;
    member = text;
    return true;
  };
  return value;
}

}  // namespace

void declare(Settings& settings, MqttOptions& options) {
  const std::string section = "mqtt";
  settings.add(section, "url", mqtt_address(options.url),
               "Publish states, pictures and statistics to this MQTT broker, for Home Assistant "
               "and others: mqtt://[USER@]HOST[:1883], mqtts://[USER@]HOST[:8883] or "
               "mqtt+unix:[USER@]PATH; default: none",
               "--mqtt");
  settings.add(section, "prefix", topic_prefix(options.prefix, /*may_be_empty=*/false),
               "Beginning of the topics, before the camera's name");
  settings.add(section, "password-file", text(options.password_file, "FILE"),
               "File whose first line is the password of the user in the URL");
  settings.add(section, "ca", text(options.ca, "FILE"),
               "File with the certificate of the CA that signed the broker's certificate; default: "
               "the system's CAs");
  settings.add(section, "certificate", text(options.certificate, "FILE"),
               "File with a certificate to show to the broker");
  settings.add(section, "key", text(options.key, "FILE"), "File with the key of this certificate");
  settings.add(section, "discovery", topic_prefix(options.discovery, /*may_be_empty=*/true),
               "Discovery prefix of Home Assistant; empty: no discovery");
  settings.add(section, "interval",
               time_value(options.interval, {std::chrono::milliseconds(1000), false}),
               "Minimum time between two statistics");
  settings.add(section, "pictures",
               choice<MqttPictures>(options.pictures, {{"changes", MqttPictures::kChanges},
                                                       {"none", MqttPictures::kNone}}),
               "Pictures to publish: one when the state changes, at most one in 10 s, or none");
  settings.add(section, "commands", boolean(options.commands),
               "Accept commands from the broker: pause and release the camera, take a picture");
}

}  // namespace lookout

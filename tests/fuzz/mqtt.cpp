// What a broker may send: commands, what a run before has left, and discovery messages when a
// camera is to be forgotten.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platform/mqtt/home_assistant.h"
#include "platform/mqtt/mqtt_owner.h"
#include "platform/mqtt/mqtt_topics.h"

namespace {

using lookout::MqttCommand;

// The first line is the topic, the rest the payload.
lookout::MqttMessage message_of(std::string_view text) {
  const auto line = text.find('\n');
  lookout::MqttMessage message;
  message.topic = text.substr(0, line);
  if (line != std::string_view::npos) message.payload = text.substr(line + 1);
  return message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string machine = "0123456789ab";
  static const lookout::MqttTopics topics =
      lookout::mqtt_topics("lookout", "front", machine, "homeassistant");
  lookout::MqttMessage message = message_of({reinterpret_cast<const char*>(data), size});
  const auto command = lookout::parse_command(message, topics, /*commands=*/true);
  message.retained = true;
  const auto retained = lookout::parse_command(message, topics, /*commands=*/true);
  message.retained = false;
  const auto unasked = lookout::parse_command(message, topics, /*commands=*/false);
  for (const auto& harmless : {retained, unasked}) {
    if (harmless && *harmless != MqttCommand::kRepublish) std::abort();
  }
  if (command == MqttCommand::kDisable && message.payload != "OFF") std::abort();
  const auto camera = lookout::discovered_camera(message);
  if (camera) lookout::mqtt_topics("lookout", camera->name, camera->machine, "homeassistant");
  if (lookout::watch_names(message.payload).size() > lookout::kMaxWatchNames) std::abort();
  lookout::MqttOwner owner({machine, ""});
  owner.hear(message.payload, /*retained=*/true, {});
  const bool is_theirs = owner.state() == lookout::MqttOwner::State::kTheirs;
  if (is_theirs) lookout::to_text(owner.other());
  return 0;
}

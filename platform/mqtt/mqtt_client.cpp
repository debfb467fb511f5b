#include "platform/mqtt/mqtt_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/mqtt/home_assistant.h"
#include "platform/mqtt/mqtt_owner.h"
#include "platform/mqtt/mqtt_topics.h"

namespace lookout {
namespace {

// A broker sends what it has retained at once.
constexpr std::chrono::milliseconds kQuiet{500};
constexpr std::chrono::seconds kAnswer{10};

const MqttModule& load() {
  try {
    return load_module<MqttModule>(kMqttModule, kMqttEntry, kMqttInterface);
  } catch (const Error& error) {
    const bool no_library =
        std::string_view(error.what()).find("libmosquitto") != std::string::npos;
    throw Error(error.kind(), fmt::format("MQTT cannot be used: {}{}", error.what(),
                                          no_library ? " (apt install libmosquitto1)" : ""));
  }
}

const MqttModule& mqtt_module() {
  static const MqttModule& module = load();
  return module;
}

MqttLinkOptions quiet(MqttLinkOptions options) {
  options.log = false;
  return options;
}

using FoundCameras = std::vector<DiscoveredCamera>;

// Returns those whose topics begin as ours do.
FoundCameras discovered_cameras(MqttClient& visit, const ForgetOptions& options) {
  FoundCameras cameras;
  if (options.discovery.empty()) return cameras;
  for (const MqttMessage& message : visit.retained(options.discovery + "/device/+/config")) {
    auto camera = discovered_camera(message);
    if (!camera) continue;
    const bool is_ours = camera->machine == options.machine;
    const std::string topic =
        mqtt_topics(options.prefix, camera->name, camera->machine, options.discovery).camera;
    if (is_ours || camera->camera_topic == topic) cameras.push_back(std::move(*camera));
  }
  return cameras;
}

// The names of this machine's cameras, or of the others'.
std::vector<std::string> names_of(const FoundCameras& cameras, const std::string& machine,
                                  bool ours) {
  std::vector<std::string> names;
  for (const DiscoveredCamera& camera : cameras) {
    const bool is_new = std::find(names.begin(), names.end(), camera.name) == names.end();
    if (is_new && (camera.machine == machine) == ours) names.push_back(camera.name);
  }
  return names;
}

std::string list_of(std::vector<std::string> names) {
  for (std::string& name : names) name = printable(name);
  return joined(names, ", ");
}

std::string choose_camera(const FoundCameras& cameras, const ForgetOptions& options) {
  std::vector<std::string> names = names_of(cameras, options.machine, /*ours=*/true);
  const std::vector<std::string> others = names_of(cameras, options.machine, /*ours=*/false);
  for (const std::string& other : others) {
    const bool is_new = std::find(names.begin(), names.end(), other) == names.end();
    if (options.all_machines && is_new) names.push_back(other);
  }
  const char* whose = options.all_machines ? "" : " of this machine";
  if (names.size() == 1) return names.front();
  if (!names.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("this broker knows several cameras{}: choose with "
                                               "--set camera.name=NAME one of {}",
                                               whose, list_of(names)));
  }
  const bool hidden = !options.all_machines && !others.empty();
  throw Error(ErrorKind::kNoInput,
              fmt::format("this broker knows no camera{}; with --set camera.name=NAME its messages "
                          "are removed anyway{}",
                          whose,
                          hidden ? "; other machines have " + list_of(others) +
                                       ", which --all-machines removes"
                                 : ""));
}

// What removes the devices and, unless they stay, the camera's topics. `watches`: those of the
// watches that are retained.
std::vector<MqttMessage> empty_messages(const MqttTopics& topics, std::set<std::string> devices,
                                        const std::set<std::string>& watches, bool keeps_topics) {
  std::vector<MqttMessage> empty;
  const auto add = [&empty](const std::string& topic) {
    empty.push_back({topic, "", /*qos=*/1, /*retained=*/true});
  };
  if (!keeps_topics && !topics.config.empty()) devices.insert(topics.config);
  for (const std::string& topic : devices) add(topic);
  if (keeps_topics) return empty;
  for (const std::string& topic : watches) add(topic);
  for (const auto& topic : {topics.available, topics.camera, topics.state, topics.attributes,
                            topics.snapshot, topics.enabled, topics.owner}) {
    add(topic);
  }
  return empty;
}

// The retained topics of a camera's watches.
std::set<std::string> watch_topics_of(MqttClient& visit, const MqttTopics& topics) {
  std::set<std::string> found;
  for (const MqttMessage& message : visit.retained(topics.watches + "/#")) {
    const bool is_below = message.topic.rfind(topics.watches + "/", 0) == 0;
    if (is_below || message.topic == topics.watches) found.insert(message.topic);
  }
  return found;
}

// The machine that has the topics; nothing when it is this one or none.
std::optional<MqttMachine> other_owner(MqttClient& visit, const std::string& topic,
                                       const std::string& machine) {
  for (const MqttMessage& message : visit.retained(topic)) {
    if (message.topic != topic || !message.retained || message.payload.empty()) continue;
    MqttMachine owner = parse_machine(message.payload);
    if (owner.id != machine) return owner;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<MqttTransport> open_mosquitto(const MqttSettings& settings,
                                              MqttListener& listener) {
  return mqtt_module().open(settings, listener);
}

void check_mqtt_module() { mqtt_module(); }

MqttClient::MqttClient(MqttLinkOptions options, OpenMqtt open)
    : link_(quiet(std::move(options)), std::move(open), std::make_shared<MqttCounters>()) {
  link_.set_handlers({{}, [this](const MqttMessage& message) { received_.push_back(message); }});
  advance_until(Clock::now() + kAnswer + kQuiet, [this] { return link_.connected(); });
}

void MqttClient::advance_until(Clock::time_point deadline, const std::function<bool()>& done) {
  MqttReady ready;
  do {
    link_.advance(ready.readable, ready.writable);
    if (!link_.last_problem().empty()) {
      throw Error(ErrorKind::kDeviceLost, "mqtt: " + link_.last_problem());
    }
    if (done()) return;
    ready = poll_link(link_, wake_, std::min(deadline, link_.next_due()));
  } while (Clock::now() < deadline);
}

std::vector<MqttMessage> MqttClient::retained(const std::string& filter) {
  link_.subscribe(filter);
  std::size_t before = 0;
  do {
    before = received_.size();
    advance_until(Clock::now() + kQuiet, [] { return false; });
  } while (received_.size() > before);
  return std::exchange(received_, {});
}

void MqttClient::publish(const std::vector<MqttMessage>& messages) {
  for (const MqttMessage& message : messages) link_.publish(message);
  advance_until(Clock::now() + kAnswer, [this] { return link_.idle(); });
  if (!link_.idle()) throw Error(ErrorKind::kDeviceLost, "mqtt: the broker does not answer");
}

Forgotten forget_camera(MqttClient& visit, const ForgetOptions& options) {
  if (options.camera.empty() && options.discovery.empty()) {
    throw Error(ErrorKind::kUsage, "mqtt forget: without mqtt.discovery it needs camera.name");
  }
  const FoundCameras cameras = discovered_cameras(visit, options);
  Forgotten forgotten;
  forgotten.camera = options.camera.empty() ? choose_camera(cameras, options) : options.camera;
  const MqttTopics topics =
      mqtt_topics(options.prefix, forgotten.camera, options.machine, options.discovery);
  const auto owner = other_owner(visit, topics.owner, options.machine);
  std::set<std::string> devices;              // the topics of those that go
  std::map<std::string, std::string> others;  // the machines that keep the name: id, host
  for (const DiscoveredCamera& camera : cameras) {
    if (camera.name != forgotten.camera) continue;
    if (options.all_machines || camera.machine == options.machine) {
      devices.insert(camera.config);
    } else {
      others[camera.machine];
    }
  }
  const bool keeps_topics = owner && !options.all_machines;
  if (keeps_topics && devices.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is a camera of {}, not of this machine: --all-machines removes it",
                            printable(forgotten.camera), to_text(*owner)));
  }
  if (keeps_topics) others[owner->id] = owner->host;
  for (const auto& [id, host] : others) {
    forgotten.remaining.push_back(to_text(MqttMachine{id, host}));
  }
  std::set<std::string> watches;
  if (!keeps_topics) watches = watch_topics_of(visit, topics);
  visit.publish(empty_messages(topics, std::move(devices), watches, keeps_topics));
  return forgotten;
}

}  // namespace lookout

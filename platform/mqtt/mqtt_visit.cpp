#include "platform/mqtt/mqtt_visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "pipeline/append_format.h"
#include "pipeline/error.h"
#include "pipeline/printable.h"
#include "platform/mqtt/home_assistant.h"
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

std::string choose_camera(const std::vector<MqttMessage>& messages, const std::string& machine) {
  std::vector<std::string> cameras;
  for (const MqttMessage& message : messages) {
    if (auto camera = discovered_camera(message, machine)) cameras.push_back(std::move(*camera));
  }
  if (cameras.size() == 1) return cameras.front();
  if (cameras.empty()) {
    throw Error(ErrorKind::kNoInput,
                "this broker knows no camera of this machine; with --set camera.name=NAME its "
                "messages are removed anyway");
  }
  for (std::string& camera : cameras) camera = printable(camera);
  throw Error(ErrorKind::kUsage,
              fmt::format("this broker knows several cameras of this machine: choose with --set "
                          "camera.name=NAME one of {}",
                          joined(cameras, ", ")));
}

}  // namespace

std::unique_ptr<MqttTransport> open_mosquitto(const MqttSettings& settings,
                                              MqttListener& listener) {
  return mqtt_module().open(settings, listener);
}

void check_mqtt_module() { mqtt_module(); }

MqttVisit::MqttVisit(MqttLinkOptions options, OpenMqtt open)
    : link_(quiet(std::move(options)), std::move(open), std::make_shared<MqttCounters>()) {
  link_.set_handlers({{}, [this](const MqttMessage& message) { received_.push_back(message); }});
  advance_until(Clock::now() + kAnswer + kQuiet, [this] { return link_.connected(); });
}

void MqttVisit::advance_until(Clock::time_point deadline, const std::function<bool()>& done) {
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

std::vector<MqttMessage> MqttVisit::retained(const std::string& filter) {
  link_.subscribe(filter);
  std::size_t before = 0;
  do {
    before = received_.size();
    advance_until(Clock::now() + kQuiet, [] { return false; });
  } while (received_.size() > before);
  return std::exchange(received_, {});
}

void MqttVisit::publish(const std::vector<MqttMessage>& messages) {
  for (const MqttMessage& message : messages) link_.publish(message);
  advance_until(Clock::now() + kAnswer, [this] { return link_.idle(); });
  if (!link_.idle()) throw Error(ErrorKind::kDeviceLost, "mqtt: the broker does not answer");
}

std::string forget_camera(MqttVisit& visit, const std::string& camera, const std::string& prefix,
                          const std::string& machine, const std::string& discovery) {
  const bool has_discovery = !discovery.empty();
  if (camera.empty() && !has_discovery) {
    throw Error(ErrorKind::kUsage, "mqtt forget: without mqtt.discovery it needs camera.name");
  }
  const std::string name =
      camera.empty() ? choose_camera(visit.retained(discovery + "/device/+/config"), machine)
                     : camera;
  const MqttTopics topics = mqtt_topics(prefix, name, machine, discovery);
  std::vector<MqttMessage> empty;
  for (const std::string& topic :
       {topics.config, topics.available, topics.camera, topics.state, topics.attributes,
        topics.snapshot, topics.enabled, topics.owner}) {
    if (!topic.empty()) empty.push_back({topic, "", /*qos=*/1, /*retained=*/true});
  }
  visit.publish(empty);
  return name;
}

}  // namespace lookout

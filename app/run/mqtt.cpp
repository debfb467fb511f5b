#include "app/run/mqtt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/run/stats_interval.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/http/http_address.h"
#include "platform/mqtt/home_assistant.h"
#include "platform/mqtt/mqtt_address.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/mqtt/mqtt_reporter.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/system/input_file.h"
#include "platform/system/machine_id.h"
#include "platform/system/service.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

Error config_error(const std::string& sentence) { return {ErrorKind::kConfig, sentence}; }

// The first line of the file.
std::string read_password(const MqttOptions& options, const MqttAddress& address) {
  if (options.password_file.empty()) return {};
  if (address.user.empty()) {
    throw config_error("mqtt.password-file needs a user in mqtt.url, as mqtt://USER@HOST");
  }
  std::string password = read_secret("mqtt.password-file", options.password_file);
  password.resize(std::min(password.find_first_of("\r\n"), password.size()));
  if (!password.empty()) return password;
  throw config_error(
      fmt::format("mqtt.password-file {}: its first line is empty", options.password_file));
}

// libmosquitto would tell of a file that is missing much later.
void check_tls(const MqttOptions& options, const MqttAddress& address) {
  const std::array<std::pair<const char*, const std::string*>, 3> files{
      {{"mqtt.ca", &options.ca},
       {"mqtt.certificate", &options.certificate},
       {"mqtt.key", &options.key}}};
  for (const auto& [name, file] : files) {
    if (file->empty()) continue;
    if (!address.tls) {
      throw config_error(fmt::format("{} is for a broker with TLS: mqtt.url=mqtts://...", name));
    }
    if (file == &options.key) {
      read_secret(name, *file);
    } else {
      read_input(name, *file);
    }
  }
  if (options.certificate.empty() != options.key.empty()) {
    throw config_error("mqtt.certificate and mqtt.key belong together: set both or none");
  }
}

MqttLinkOptions link_options(const MqttOptions& options, const std::string& client_id) {
  const MqttAddress address = parse_mqtt_address(options.url);
  check_tls(options, address);
  MqttLinkOptions link;
  MqttSettings& settings = link.settings;
  settings.client_id = client_id;
  settings.host = address.path.empty() ? address.host : address.path;
  settings.port = address.port;
  settings.user = address.user;
  settings.password = read_password(options, address);
  settings.tls = address.tls;
  settings.ca = options.ca;
  settings.certificate = options.certificate;
  settings.key = options.key;
  link.party = {to_text(address), client_id, is_service()};
  return link;
}

std::string client_of_command() { return "lookout-" + machine_id() + "-command"; }

// The address of our HTTP server for browsers elsewhere; empty: they cannot reach it.
std::string page_address(const HttpOptions& http) {
  if (http.address.empty()) return {};
  HttpAddress address = parse_http_address(http.address);
  if (is_loopback(address) || address.port == 0) return {};
  if (address.host == "0.0.0.0" || address.host == "::") {
    const std::string host = host_name();
    if (host.empty()) return {};
    address.host = host + ".local";
  }
  return to_text(address);
}

DiscoveryFacts discovery_facts(const RunOptions& options, bool can_pause) {
  const MachineState machine = read_machine_state();
  DiscoveryFacts facts;
  facts.pictures = options.mqtt.pictures == MqttPictures::kChanges;
  facts.commands = can_pause;
  facts.has_temperature = machine.temperature.has_value();
  facts.has_throttling = machine.throttled.has_value();
  facts.stats_interval = std::chrono::ceil<std::chrono::seconds>(
      std::max(options.mqtt.interval, stats_interval(options.log.stats_interval)));
  facts.page = page_address(options.http);
  return facts;
}

// The camera's name on the broker: `name`, the user's, or one that differs between machines.
// `source`: the source's name.
std::string mqtt_camera(const std::string& name, const std::string& source) {
  if (!name.empty()) return name;
  const std::string host = host_name();
  return host.empty() ? source : host + "-" + source;
}

MqttFeedOptions feed_options(const RunOptions& options, const RunInfo& info,
                             const std::shared_ptr<std::atomic<bool>>& paused) {
  const MqttOptions& mqtt = options.mqtt;
  MqttFeedOptions feed;
  feed.info = info;
  feed.info.camera = mqtt_camera(options.camera.name, info.camera);
  feed.machine = {machine_id(), host_name()};
  feed.topics = mqtt_topics(mqtt.prefix, feed.info.camera, feed.machine.id, mqtt.discovery);
  feed.view = options.camera.view;
  feed.pictures = mqtt.pictures == MqttPictures::kChanges;
  feed.interval = mqtt.interval;
  feed.commands = mqtt.commands;
  if (paused) feed.enable = [paused](bool enabled) { *paused = !enabled; };
  if (!mqtt.discovery.empty()) {
    feed.discovery =
        discovery_payload(feed.topics, feed.info, discovery_facts(options, paused != nullptr));
  }
  return feed;
}

}  // namespace

void check_mqtt(const MqttOptions& options) {
  if (options.url.empty()) return;
  check_mqtt_module();
  link_options(options, "");
}

std::unique_ptr<Reporter> make_mqtt_reporter(const RunOptions& options, const RunInfo& info,
                                             std::shared_ptr<MqttCounters> counters,
                                             const std::shared_ptr<std::atomic<bool>>& paused) {
  if (options.mqtt.url.empty()) return nullptr;
  MqttFeedOptions feed = feed_options(options, info, paused);
  MqttLinkOptions link = link_options(options.mqtt, feed.topics.client_id);
  link.settings.will = MqttMessage{feed.topics.available, "offline", /*qos=*/1, /*retained=*/true};
  check_mqtt_module();
  return std::make_unique<MqttReporter>(std::move(link), std::move(feed), open_mosquitto,
                                        std::move(counters));
}

std::string try_mqtt(const MqttOptions& options) {
  check_mqtt(options);
  MqttLinkOptions link = link_options(options, client_of_command());
  const std::string broker = link.party.broker;
  const MqttClient visit(std::move(link));
  return broker + " accepts the connection";
}

std::string forget_mqtt(const RunOptions& options, bool all_machines) {
  const MqttOptions& mqtt = options.mqtt;
  if (mqtt.url.empty()) {
    throw Error(ErrorKind::kUsage, "mqtt forget: no broker is set; name it with --mqtt URL");
  }
  check_mqtt(mqtt);
  MqttClient visit(link_options(mqtt, client_of_command()));
  const Forgotten forgotten = forget_camera(
      visit, {options.camera.name, mqtt.prefix, machine_id(), mqtt.discovery, all_machines});
  std::string text = fmt::format("removed from the broker: {}\n", printable(forgotten.camera));
  if (!forgotten.remaining.empty()) {
    text += fmt::format("{} has a camera of this name, too: --all-machines removes it\n",
                        joined(forgotten.remaining, ", "));
  }
  return text;
}

}  // namespace lookout

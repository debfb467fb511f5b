#include "platform/mqtt/home_assistant.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/core/json_text.h"
#include "platform/mqtt/mqtt_payloads.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr int kMissedIntervals = 3;  // after which a figure is no longer true

// `stopped` is none of the two words that Home Assistant knows.
constexpr const char* kIsOnline = "{{ 'online' if value == 'online' else 'offline' }}";

class Device {
 public:
  Device(const MqttTopics& topics, const DiscoveryFacts& facts) : topics_(topics), facts_(facts) {}

  // An entity that is available while the program runs.
  Json& add(const std::string& key, const std::string& platform, const std::string& name) {
    Json& entity = entities_[key];
    entity = {{"p", platform}, {"name", name}, {"uniq_id", topics_.device + "_" + key}};
    entity["avty"] = Json::array({program()});
    return entity;
  }

  // An entity that is available while the camera is there, too.
  Json& add_of_camera(const std::string& key, const std::string& platform,
                      const std::string& name) {
    Json& entity = add(key, platform, name);
    entity["avty"].push_back({{"t", topics_.camera}});
    entity["avty_mode"] = "all";
    return entity;
  }

  // A figure of the topic `stats`, which is for those who look after the machine.
  Json& add_figure(const std::string& key, const std::string& platform, const std::string& name,
                   const std::string& value, bool of_camera) {
    Json& entity = of_camera ? add_of_camera(key, platform, name) : add(key, platform, name);
    entity["stat_t"] = topics_.stats;
    entity["val_tpl"] = "{{ " + value + " }}";
    entity["exp_aft"] = facts_.stats_interval.count() * kMissedIntervals;
    entity["ent_cat"] = "diagnostic";
    return entity;
  }

  Json take() { return std::move(entities_); }

 private:
  Json program() const { return {{"t", topics_.available}, {"val_tpl", kIsOnline}}; }

  const MqttTopics& topics_;
  const DiscoveryFacts& facts_;
  Json entities_;
};

void add_state(const MqttTopics& topics, const RunInfo& info, Device& device) {
  Json& state = device.add_of_camera("state", "sensor", "State");
  state["stat_t"] = topics.state;
  state["json_attr_t"] = topics.attributes;
  state["ic"] = "mdi:eye";
  if (info.labels.size() <= kMaxOptions) {
    std::vector<std::string> options;
    for (const std::string& label : info.labels) options.push_back(state_label(label));
    options.emplace_back("unknown");
    std::sort(options.begin(), options.end());
    options.erase(std::unique(options.begin(), options.end()), options.end());
    state["dev_cla"] = "enum";
    state["ops"] = options;
  }
  Json& score = device.add_of_camera("score", "sensor", "Score");
  score["stat_t"] = topics.attributes;
  score["val_tpl"] =
      "{{ (value_json.score * 100) | round(1) if value_json.score is not none else none }}";
  score["unit_of_meas"] = "%";
  score["sug_dsp_prc"] = 1;
  score["stat_cla"] = "measurement";
  score["ic"] = "mdi:percent";
  Json& change = device.add_of_camera("change", "event", "Change");
  change["stat_t"] = topics.event;
  change["evt_typ"] = Json::array({"changed"});
  change["ic"] = "mdi:eye-refresh";
}

void add_figures(const DiscoveryFacts& facts, Device& device) {
  Json& rate =
      device.add_figure("rate", "sensor", "Rate", "value_json.fps if value_json.fps > 0 else none",
                        /*of_camera=*/true);
  rate["unit_of_meas"] = "fps";
  rate["sug_dsp_prc"] = 1;
  rate["stat_cla"] = "measurement";
  rate["ic"] = "mdi:speedometer";
  Json& latency = device.add_figure("latency", "sensor", "Latency",
                                    "value_json.latency_ms.frame_age.p95", /*of_camera=*/true);
  latency["unit_of_meas"] = "ms";
  latency["sug_dsp_prc"] = 1;
  latency["dev_cla"] = "duration";
  latency["stat_cla"] = "measurement";
  if (facts.has_temperature) {
    Json& temperature = device.add_figure("temperature", "sensor", "Temperature",
                                          "value_json.temperature_c", /*of_camera=*/false);
    temperature["unit_of_meas"] = "°C";
    temperature["dev_cla"] = "temperature";
    temperature["stat_cla"] = "measurement";
  }
  if (facts.has_throttling) {
    Json& throttled = device.add_figure("throttled", "binary_sensor", "Throttled",
                                        "none if value_json.throttled is none else 'ON' if "
                                        "value_json.throttled % 16 > 0 else 'OFF'",
                                        /*of_camera=*/false);
    throttled["dev_cla"] = "problem";
  }
}

void add_camera(const MqttTopics& topics, const DiscoveryFacts& facts, Device& device) {
  Json& connected = device.add("camera", "binary_sensor", "Camera");
  connected["stat_t"] = topics.camera;
  connected["pl_on"] = "online";
  connected["pl_off"] = "offline";
  connected["dev_cla"] = "connectivity";
  connected["ent_cat"] = "diagnostic";
  if (!facts.pictures) return;
  Json& image = device.add_of_camera("image", "image", "Last change");
  image["img_t"] = topics.snapshot;
  image["cont_type"] = "image/jpeg";
  Json& picture = device.add_of_camera("picture", "camera", "Picture");
  picture["t"] = topics.snapshot;
}

void add_commands(const MqttTopics& topics, const DiscoveryFacts& facts, Device& device) {
  if (!facts.commands) return;
  Json& enabled = device.add("enabled", "switch", "Enabled");
  enabled["stat_t"] = topics.enabled;
  enabled["cmd_t"] = topics.set_enabled;
  enabled["ent_cat"] = "config";
  enabled["ic"] = "mdi:cctv";
  if (!facts.pictures) return;
  Json& snapshot = device.add_of_camera("take_snapshot", "button", "Take a picture");
  snapshot["cmd_t"] = topics.take_snapshot;
  snapshot["ic"] = "mdi:camera";
}

}  // namespace

std::string discovery_payload(const MqttTopics& topics, const RunInfo& info,
                              const DiscoveryFacts& facts) {
  Device device(topics, facts);
  add_state(topics, info, device);
  add_figures(facts, device);
  add_camera(topics, facts, device);
  add_commands(topics, facts, device);
  Json about{{"ids", Json::array({topics.device})},
             {"name", info.camera},
             {"mf", "lookout"},
             {"mdl", info.model},
             {"sw", LOOKOUT_VERSION}};
  if (!facts.page.empty()) about["cu"] = facts.page;
  const Json config{{"dev", std::move(about)},
                    {"o", {{"name", "lookout"}, {"sw", LOOKOUT_VERSION}}},
                    {"cmps", device.take()},
                    {"qos", 1}};
  return to_text(config);
}

std::optional<DiscoveredCamera> discovered_camera(const MqttMessage& message) {
  const std::size_t device = message.topic.rfind('/' + std::string(kDevicePrefix));
  if (device == std::string::npos) return std::nullopt;
  const std::string rest = message.topic.substr(device + 1 + kDevicePrefix.size());
  const Json json = parse_json(message.payload);
  const auto text = [&json](const char* path) -> std::string {
    const Json::json_pointer pointer(path);
    const bool is_there = json.is_object() && json.contains(pointer);
    return is_there && json.at(pointer).is_string() ? json.at(pointer).get<std::string>() : "";
  };
  DiscoveredCamera camera{text("/dev/name"), rest.substr(0, rest.find('_')),
                          text("/cmps/state/stat_t"), message.topic};
  if (camera.name.empty()) return std::nullopt;
  return camera;
}

}  // namespace lookout

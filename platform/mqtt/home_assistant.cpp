#include "platform/mqtt/home_assistant.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/json_text.h"
#include "platform/mqtt/mqtt_topics.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr int kMissedIntervals = 3;  // after which a figure is no longer true

// `stopped` is none of the two words that Home Assistant knows.
constexpr const char* kIsOnline = "{{ 'online' if value == 'online' else 'offline' }}";

// What an entity is called within its device: those of a watch have its name before their own.
std::string entity_key(const WatchInfoPtr& watch, const std::string& key) {
  return watch ? watch->name + "_" + key : key;
}

// The end of its unique id: of no watch it is that of an entity of another camera.
std::string unique_end(const WatchInfoPtr& watch, const std::string& key) {
  return watch ? "." + watch->name + "." + key : "_" + key;
}

// What people see. `name` begins with a capital letter.
std::string entity_name(const WatchInfoPtr& watch, std::string name) {
  if (!watch) return name;
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return watch->shown() + " " + name;
}

// The entities of a device, by their keys.
class Device {
 public:
  Device(const MqttTopics& topics, const DiscoveryFacts& facts) : topics_(topics), facts_(facts) {}

  // Of the entities that follow; null: they are the camera's.
  void set_watch(const WatchInfoPtr& watch) { watch_ = watch; }

  // An entity that is available while the program runs. `fields`: what else describes it.
  void add(const std::string& key, const std::string& platform, const std::string& name,
           const Json& fields) {
    Json& entity = entities_[entity_key(watch_, key)];
    entity = {{"p", platform},
              {"name", entity_name(watch_, name)},
              {"uniq_id", topics_.device + unique_end(watch_, key)},
              {"avty", Json::array({{{"t", topics_.available}, {"val_tpl", kIsOnline}}})}};
    entity.update(fields);
  }

  // An entity that is available while the camera is there, too.
  void add_for_camera(const std::string& key, const std::string& platform, const std::string& name,
                      const Json& fields) {
    add(key, platform, name, fields);
    Json& entity = entities_[entity_key(watch_, key)];
    entity["avty"].push_back({{"t", topics_.camera}});
    entity["avty_mode"] = "all";
  }

  // Home Assistant removes what has nothing but a platform.
  void remove(const std::string& key, const std::string& platform) {
    if (!entities_.contains(key)) entities_[key] = {{"p", platform}};
  }

  // The fields of a figure in the topic `stats`, which is for those who look after the machine.
  Json figure(const std::string& value, const Json& fields) const {
    Json figure{{"stat_t", topics_.stats},
                {"val_tpl", "{{ " + value + " }}"},
                {"exp_aft", facts_.stats_interval.count() * kMissedIntervals},
                {"ent_cat", "diagnostic"}};
    figure.update(fields);
    return figure;
  }

  Json take() { return std::move(entities_); }

 private:
  const MqttTopics& topics_;
  const DiscoveryFacts& facts_;
  WatchInfoPtr watch_;
  Json entities_;
};

void add_picture(const std::string& topic, Device& device) {
  device.add_for_camera("picture", "camera", "Picture", {{"t", topic}});
}

void add_watch(const MqttWatchTopics& topics, const ModelInfo& model, bool pictures,
               Device& device) {
  Json state{{"stat_t", topics.state}, {"json_attr_t", topics.attributes}, {"ic", "mdi:eye"}};
  if (model.labels.size() <= kMaxOptions) {
    std::set<std::string> options{"unknown"};
    for (const std::string& label : model.labels) options.insert(state_label(label));
    state.update({{"dev_cla", "enum"}, {"ops", options}});
  }
  device.add_for_camera("state", "sensor", "State", state);
  device.add_for_camera(
      "score", "sensor", "Score",
      {{"stat_t", topics.attributes},
       {"val_tpl",
        "{{ (value_json.score * 100) | round(1) if value_json.score is not none else none }}"},
       {"unit_of_meas", "%"},
       {"sug_dsp_prc", 1},
       {"stat_cla", "measurement"},
       {"ic", "mdi:percent"}});
  device.add_for_camera(
      "change", "event", "Change",
      {{"stat_t", topics.event}, {"evt_typ", Json::array({"changed"})}, {"ic", "mdi:eye-refresh"}});
  if (!pictures) return;
  device.add_for_camera("image", "image", "Last change",
                        {{"img_t", topics.snapshot}, {"cont_type", "image/jpeg"}});
  add_picture(topics.snapshot, device);
}

// All that add_watch() may have added.
void remove_watch(const std::string& name, Device& device) {
  WatchInfoPtr watch;
  if (!name.empty()) watch = std::make_shared<WatchInfo>(WatchInfo{name, {}});
  for (const auto& [key, platform] : {std::pair("state", "sensor"),
                                      {"score", "sensor"},
                                      {"change", "event"},
                                      {"image", "image"},
                                      {"picture", "camera"}}) {
    device.remove(entity_key(watch, key), platform);
  }
}

void add_figures(const DiscoveryFacts& facts, Device& device) {
  device.add_for_camera(
      "rate", "sensor", "Rate",
      device.figure("value_json.fps if value_json.fps > 0 else none", {{"unit_of_meas", "fps"},
                                                                       {"sug_dsp_prc", 1},
                                                                       {"stat_cla", "measurement"},
                                                                       {"ic", "mdi:speedometer"}}));
  device.add_for_camera(
      "latency", "sensor", "Latency",
      device.figure("value_json.latency_ms.frame_age.p95", {{"unit_of_meas", "ms"},
                                                            {"sug_dsp_prc", 1},
                                                            {"dev_cla", "duration"},
                                                            {"stat_cla", "measurement"}}));
  if (facts.has_temperature) {
    device.add("temperature", "sensor", "Temperature",
               device.figure("value_json.temperature_c", {{"unit_of_meas", "°C"},
                                                          {"dev_cla", "temperature"},
                                                          {"stat_cla", "measurement"}}));
  }
  if (facts.has_throttling) {
    device.add("throttled", "binary_sensor", facts.voltage_alone ? "Under-voltage" : "Throttled",
               device.figure("none if value_json.throttled is none else 'ON' if "
                             "value_json.throttled % 16 > 0 else 'OFF'",
                             {{"dev_cla", "problem"}}));
  }
}

void add_camera(const MqttTopics& topics, Device& device) {
  device.add("camera", "binary_sensor", "Camera",
             {{"stat_t", topics.camera},
              {"pl_on", "online"},
              {"pl_off", "offline"},
              {"dev_cla", "connectivity"},
              {"ent_cat", "diagnostic"}});
}

void add_commands(const MqttTopics& topics, const DiscoveryFacts& facts, Device& device) {
  if (!facts.commands) return;
  device.add("enabled", "switch", "Enabled",
             {{"stat_t", topics.enabled},
              {"cmd_t", topics.set_enabled},
              {"ent_cat", "config"},
              {"ic", "mdi:cctv"}});
  if (!facts.pictures) return;
  device.add_for_camera("take_snapshot", "button", "Take a picture",
                        {{"cmd_t", topics.take_snapshot}, {"ic", "mdi:camera"}});
}

// The names of the models, each once.
std::string model_names(const WatchList& watches) {
  std::vector<std::string> names;
  for (const Watching& each : watches) {
    const std::string& name = each.model->name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return joined(names, ", ");
}

}  // namespace

std::string discovery_payload(const MqttTopics& topics, const std::string& camera,
                              const WatchList& watches, const std::set<std::string>& removed,
                              const DiscoveryFacts& facts) {
  Device device(topics, facts);
  for (const Watching& each : watches) {
    device.set_watch(each.watch);
    const std::string name = each.watch ? each.watch->name : "";
    add_watch(watch_topics(topics, name), *each.model, facts.pictures, device);
  }
  device.set_watch(nullptr);
  add_figures(facts, device);
  add_camera(topics, device);
  add_commands(topics, facts, device);
  // What is asked for is a picture of no watch.
  const bool has_names = watches.front().watch != nullptr;
  if (has_names && facts.commands && facts.pictures) add_picture(topics.snapshot, device);
  for (const std::string& name : removed) remove_watch(name, device);
  Json about{{"ids", Json::array({topics.device})},
             {"name", camera},
             {"mf", "lookout"},
             {"mdl", model_names(watches)},
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
                          text("/cmps/camera/stat_t"), message.topic};
  if (camera.name.empty()) return std::nullopt;
  return camera;
}

}  // namespace lookout

#include "platform/mqtt/mqtt_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/core/append_format.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/sha256.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kHash = 6;  // characters that keep names apart

bool is_control(char c) {
  constexpr char kDelete = 0x7f;
  return static_cast<unsigned char>(c) < ' ' || c == kDelete;
}

bool is_wildcard(char c) { return c == '+' || c == '#'; }

bool is_plain_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-');
}

// As [watch.NAME] takes it.
bool is_watch_name(const std::string& name) {
  constexpr std::size_t kMax = 32;
  return !name.empty() && name.size() <= kMax &&
         std::all_of(name.begin(), name.end(), is_plain_character);
}

// The name with letters, digits, '_' and '-' alone, which is what Home Assistant permits.
std::string plain_name(const std::string& name) {
  std::string plain = name;
  bool changed = false;
  for (char& c : plain) {
    if (is_plain_character(c)) continue;
    c = '_';
    changed = true;
  }
  return changed ? plain + "_" + sha256(name).substr(0, kHash) : plain;
}

bool begins_character(char c) {
  constexpr unsigned char kMask = 0xC0;
  constexpr unsigned char kContinuation = 0x80;
  return (static_cast<unsigned char>(c) & kMask) != kContinuation;
}

std::string class_id(const Result& result) {
  const auto& ids = result.model->class_ids;
  const std::size_t index = result.state.prediction.index;
  return index < ids.size() ? to_json(ids[index]) : "null";
}

std::string name_json(const std::string& state) { return state.empty() ? "null" : to_json(state); }

}  // namespace

std::string topic_level(const std::string& name) {
  if (!is_utf8(name)) return plain_name(name);
  std::string level = name;
  std::replace_if(
      level.begin(), level.end(),
      [](char c) { return c == '/' || is_wildcard(c) || is_control(c); }, '_');
  return level.empty() ? "_" : level;
}

MqttTopics mqtt_topics(const std::string& prefix, const std::string& camera,
                       const std::string& machine, const std::string& discovery) {
  const std::string base = prefix + "/" + topic_level(camera);
  MqttTopics topics;
  topics.base = base;
  topics.owner = base + "/owner";
  topics.available = base + "/available";
  topics.camera = base + "/camera";
  topics.state = base + "/state";
  topics.attributes = base + "/state/attributes";
  topics.event = base + "/event";
  topics.stats = base + "/stats";
  topics.snapshot = base + "/snapshot";
  topics.watches = base + "/watch";
  topics.enabled = base + "/enabled";
  topics.set_enabled = base + "/enabled/set";
  topics.take_snapshot = base + "/snapshot/set";
  topics.client_id = "lookout-" + machine + "-" + plain_name(camera);
  topics.device = std::string(kDevicePrefix) + machine + "_" + plain_name(camera);
  if (discovery.empty()) return topics;
  topics.config = discovery + "/device/" + topics.device + "/config";
  topics.birth = discovery + "/status";
  return topics;
}

MqttWatchTopics watch_topics(const MqttTopics& topics, const std::string& watch) {
  if (watch.empty()) return {topics.state, topics.attributes, topics.event, topics.snapshot};
  const std::string base = topics.watches + "/" + watch;
  return {base + "/state", base + "/attributes", base + "/event", base + "/snapshot"};
}

std::string watches_payload(const std::vector<std::string>& names) {
  return to_text(nlohmann::json(names));
}

std::set<std::string> watch_names(const std::string& payload) {
  std::set<std::string> names;
  const auto json = parse_json(payload);
  if (!json.is_array()) return names;
  for (const auto& element : json) {
    if (!element.is_string() || names.size() == kMaxWatchNames) continue;
    const auto name = element.get<std::string>();
    if (is_watch_name(name)) names.insert(name);
  }
  return names;
}

bool is_topic_prefix(const std::string& text) {
  constexpr std::size_t kMax = 200;
  const bool has_bad =
      std::any_of(text.begin(), text.end(), [](char c) { return is_wildcard(c) || is_control(c); });
  return !text.empty() && text.size() <= kMax && !has_bad && is_utf8(text) && text.front() != '$' &&
         text.front() != '/' && text.back() != '/';
}

std::optional<MqttCommand> parse_command(const MqttMessage& message, const MqttTopics& topics,
                                         bool commands) {
  if (!topics.birth.empty() && message.topic == topics.birth) {
    return message.payload == "online" ? std::optional(MqttCommand::kRepublish) : std::nullopt;
  }
  if (!commands || message.retained) return std::nullopt;
  if (message.topic == topics.take_snapshot) return MqttCommand::kSnapshot;
  if (message.topic != topics.set_enabled) return std::nullopt;
  if (message.payload == "ON") return MqttCommand::kEnable;
  if (message.payload == "OFF") return MqttCommand::kDisable;
  return std::nullopt;
}

std::string state_label(const std::string& label) {
  if (!is_utf8(label)) return state_label(printable(label));
  std::size_t characters = 0;
  std::size_t last = 0;  // where the last permitted character begins
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (!begins_character(label[i])) continue;
    if (++characters == kMaxState) last = i;
    if (characters > kMaxState) return label.substr(0, last) + "…";
  }
  return label;
}

std::string state_payload(const SceneState& state) {
  switch (state.kind) {
    case SceneState::Kind::kClass:
      return state_label(std::string(state.prediction.label));
    case SceneState::Kind::kUnknown:
      return "unknown";
    case SceneState::Kind::kNone:
      break;
  }
  return {};
}

std::string attributes_payload(const Result& result, std::chrono::system_clock::time_point since,
                               const std::string& previous) {
  std::string json;
  if (result.state.kind == SceneState::Kind::kClass) {
    append_format(json, R"({{"index":{},"class_id":{},"score":{:.4f},)",
                  result.state.prediction.index, class_id(result), result.state.prediction.score);
  } else {
    json += R"({"index":null,"class_id":null,"score":null,)";
  }
  append_format(json, R"("previous":{},"since":)", name_json(previous));
  append_seconds(since, json);
  json += R"(,"results":[)";
  const std::size_t count = std::min(result.top.size(), kMaxResults);
  for (std::size_t i = 0; i < count; ++i) {
    const Prediction& prediction = result.top[i];
    append_format(json, R"({}{{"label":{},"score":{:.4f}}})", i == 0 ? "" : ",",
                  to_json(std::string(prediction.label)), prediction.score);
  }
  json += ']';
  if (result.model && !result.model->failed.empty()) {
    json += R"(,"failed_model":)" + to_json(result.model->failed);
  }
  return json + '}';
}

std::string event_payload(const std::string& state_line, const std::string& previous) {
  constexpr std::string_view kPrevious = R"("previous":)";  // the last member
  std::string line = state_line.substr(0, state_line.find_last_not_of('\n') + 1);
  const std::size_t member = line.rfind(kPrevious);
  if (member != std::string::npos && !previous.empty()) {
    line.replace(member + kPrevious.size(), std::string::npos, to_json(previous) + "}");
  }
  return R"({"event_type":"changed",)" + line.substr(1);
}

}  // namespace lookout

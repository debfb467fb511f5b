#include "platform/mqtt/mqtt_topics.h"

#include <algorithm>
#include <cctype>

#include "pipeline/core/printable.h"
#include "pipeline/core/sha256.h"

namespace lookout {
namespace {

constexpr std::size_t kHash = 6;  // characters that keep names apart

bool is_control(char c) {
  constexpr char kDelete = 0x7f;
  return static_cast<unsigned char>(c) < ' ' || c == kDelete;
}

bool is_wildcard(char c) { return c == '+' || c == '#'; }

// The name with letters, digits, '_' and '-' alone, which is what Home Assistant permits.
std::string plain_name(const std::string& name) {
  std::string plain = name;
  bool changed = false;
  for (char& c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-')) continue;
    c = '_';
    changed = true;
  }
  return changed ? plain + "_" + sha256(name).substr(0, kHash) : plain;
}

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

bool is_topic_prefix(const std::string& text) {
  constexpr std::size_t kMax = 200;
  const bool has_bad =
      std::any_of(text.begin(), text.end(), [](char c) { return is_wildcard(c) || is_control(c); });
  return !text.empty() && text.size() <= kMax && !has_bad && is_utf8(text) && text.front() != '$' &&
         text.front() != '/' && text.back() != '/';
}

}  // namespace lookout

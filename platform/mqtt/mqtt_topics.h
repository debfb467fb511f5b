// The topics of a camera, what is published on them, and the commands that come: pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/result.h"
#include "platform/mqtt/mqtt_transport.h"

namespace lookout {

struct MqttTopics {
  // PREFIX/CAMERA/...
  std::string base;       // PREFIX/CAMERA
  std::string owner;      // the machine that publishes, see mqtt_owner.h
  std::string available;  // online, offline (the will), stopped
  std::string camera;     // online, offline
  std::string state;
  std::string attributes;  // of the state: JSON
  std::string event;       // JSON
  std::string stats;       // JSON
  std::string snapshot;    // JPEG
  std::string enabled;     // ON, OFF
  std::string watches;     // the names of what is watched, see watches_payload()
  std::string set_enabled;
  std::string take_snapshot;

  std::string client_id;  // lookout-MACHINE-CAMERA
  std::string device;     // lookout_MACHINE_CAMERA, of the letters that Home Assistant permits
  // The prefix of Home Assistant; empty: it does not have to know.
  std::string config;
  std::string birth;
};

// `machine`: see machine_id(). `discovery`: the prefix of Home Assistant's topics; empty: none.
MqttTopics mqtt_topics(const std::string& prefix, const std::string& camera,
                       const std::string& machine, const std::string& discovery);

// Of one watch of a camera.
struct MqttWatchTopics {
  std::string state;
  std::string attributes;  // of the state: JSON
  std::string event;       // JSON
  std::string snapshot;    // JPEG
};

// PREFIX/CAMERA/watch/WATCH/..., or, of a watch without a name, those of the camera.
MqttWatchTopics watch_topics(const MqttTopics& topics, const std::string& watch);

// `["gate","lamp"]`
std::string watches_payload(const std::vector<std::string>& names);
// The names in such a text, which anybody may have written: at most kMaxWatchNames that a watch can
// have.
std::set<std::string> watch_names(const std::string& payload);
inline constexpr std::size_t kMaxWatchNames = 64;

// A name as one level of a topic: what separates levels, wildcards and control characters become
// '_'.
std::string topic_level(const std::string& name);

// What all our devices begin with; the machine and '_' follow.
inline constexpr std::string_view kDevicePrefix = "lookout_";

// Whether a text can begin topics: levels without wildcards, not empty, none of them reserved.
bool is_topic_prefix(const std::string& text);

enum class MqttCommand {
  kEnable,     // classify, again
  kDisable,    // pause, and release the camera
  kSnapshot,   // publish a picture
  kRepublish,  // Home Assistant has started: it has to hear everything again
};

// Nothing for a message that is none. Commands that are retained are none: an old one would come
// with every connection. `commands`: whether any but kRepublish are permitted.
std::optional<MqttCommand> parse_command(const MqttMessage& message, const MqttTopics& topics,
                                         bool commands);

// Home Assistant takes no longer state.
inline constexpr std::size_t kMaxState = 255;  // characters

// A label as a state: UTF-8, cut after kMaxState characters, the last of which is then '…'.
std::string state_label(const std::string& label);

// The state as text: a label, or "unknown". Empty when there is none yet.
std::string state_payload(const SceneState& state);

// `{"index":950,"class_id":"n07747607","score":0.8731,"previous":"unknown",
// "since":1795262400.123,"results":[{"label":"orange","score":0.8731},...]}`: null for what there
// is not; at most kMaxResults results; with `"failed_model":"gate (0123456789ab)"` when the one
// before is used in its place. `previous`: the state before as text; empty: there was none.
std::string attributes_payload(const Result& result, std::chrono::system_clock::time_point since,
                               const std::string& previous);
inline constexpr std::size_t kMaxResults = 10;

// A JSON line of the kind "state" as an event: with `"event_type":"changed"` first, and without a
// newline. `previous`: the state before, in place of the line's; empty: as the line says.
std::string event_payload(const std::string& state_line, const std::string& previous);

}  // namespace lookout

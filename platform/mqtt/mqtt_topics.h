// The topics of a camera: pure functions.
#pragma once

#include <string>
#include <string_view>

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

// A name as one level of a topic: what separates levels, wildcards and control characters become
// '_'.
std::string topic_level(const std::string& name);

// What all our devices begin with; the machine and '_' follow.
inline constexpr std::string_view kDevicePrefix = "lookout_";

// Whether a text can begin topics: levels without wildcards, not empty, none of them reserved.
bool is_topic_prefix(const std::string& text);

}  // namespace lookout

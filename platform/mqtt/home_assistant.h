// How Home Assistant finds a camera by itself: pure functions.
// https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "pipeline/core/result.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/mqtt/mqtt_transport.h"

namespace lookout {

struct DiscoveryFacts {
  bool pictures = true;         // the topic `snapshot` is written
  bool commands = false;        // commands are executed
  bool has_temperature = true;  // of the machine
  bool has_throttling = true;
  bool voltage_alone = false;               // of the throttling, under-voltage is known alone
  std::chrono::seconds stats_interval{60};  // at least, of the topic `stats`
  std::string page;                         // an address of our HTTP server; empty: none
};

// With more classes than this the state is any text.
inline constexpr std::size_t kMaxOptions = 32;

// The retained message for `topics.config`: one device with all its entities, JSON. Each watch has
// some of its own, with its name in their ids and its title in their names; a watch without a name
// has those of the camera. `removed`: names of watches, or "", whose entities are to go.
std::string discovery_payload(const MqttTopics& topics, const std::string& camera,
                              const WatchList& watches, const std::set<std::string>& removed,
                              const DiscoveryFacts& facts);

struct DiscoveredCamera {
  std::string name;
  std::string machine;       // see machine_id()
  std::string camera_topic;  // may be empty
  std::string config;        // the message's topic
};

// The camera in such a message, which anybody may have written; nothing when there is none.
std::optional<DiscoveredCamera> discovered_camera(const MqttMessage& message);

}  // namespace lookout

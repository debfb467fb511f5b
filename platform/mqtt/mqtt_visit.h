// A connection to a broker for a command, which ends soon.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/mqtt/mqtt_link.h"
#include "platform/mqtt/mqtt_poll.h"

namespace lookout {

// libmosquitto, through the module, which the first call loads. Throws Error(kUnsupported) when it
// or the module is missing.
std::unique_ptr<MqttTransport> open_mosquitto(const MqttSettings& settings, MqttListener& listener);
// Throws as above.
void check_mqtt_module();

// Used by one thread. The constructor connects. It and all methods throw Error(kDeviceLost) when
// the broker cannot be used.
class MqttVisit {
 public:
  explicit MqttVisit(MqttLinkOptions options, OpenMqtt open = open_mosquitto);
  ~MqttVisit() { link_.close(); }
  MqttVisit(const MqttVisit&) = delete;
  MqttVisit& operator=(const MqttVisit&) = delete;

  // The retained messages whose topics match.
  std::vector<MqttMessage> retained(const std::string& filter);
  // Returns when the broker has received all of them.
  void publish(const std::vector<MqttMessage>& messages);

 private:
  void advance_until(Clock::time_point deadline, const std::function<bool()>& done);

  MqttWake wake_;
  MqttLink link_;
  std::vector<MqttMessage> received_;
};

// Removes a camera of this machine from the broker: what Home Assistant knows of it, and its
// retained messages. Returns the camera's device. `camera`: its name; empty: the only one there is.
// `prefix`, `machine`, `discovery`: see mqtt_topics(). Throws Error(kDeviceLost) as above,
// Error(kNoInput) when there is no such camera, Error(kUsage) when there are several.
std::string forget_camera(MqttVisit& visit, const std::string& camera, const std::string& prefix,
                          const std::string& machine, const std::string& discovery);

}  // namespace lookout

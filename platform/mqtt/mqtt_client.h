// A connection to a broker for a command, which ends soon.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/mqtt/mqtt_link.h"

namespace lookout {

// libmosquitto, through the module, which the first call loads. Throws Error(kUnsupported) when it
// or the module is missing.
std::unique_ptr<MqttTransport> open_mosquitto(const MqttSettings& settings, MqttListener& listener);
// Throws as above.
void check_mqtt_module();

// Used by one thread. The constructor connects. It and all methods throw Error(kDeviceLost) when
// the broker cannot be used.
class MqttClient {
 public:
  explicit MqttClient(MqttLinkOptions options, OpenMqtt open = open_mosquitto);
  ~MqttClient() { link_.close(); }
  MqttClient(const MqttClient&) = delete;
  MqttClient& operator=(const MqttClient&) = delete;

  // The retained messages whose topics match.
  std::vector<MqttMessage> retained(const std::string& filter);
  // Returns when the broker has received all of them.
  void publish(const std::vector<MqttMessage>& messages);

 private:
  void advance_until(Clock::time_point deadline, const std::function<bool()>& done);

  WakeEvent wake_;
  MqttLink link_;
  std::vector<MqttMessage> received_;
};

struct ForgetOptions {
  std::string camera;  // its name; empty: the only one there is
  // See mqtt_topics().
  std::string prefix;
  std::string machine;
  std::string discovery;
  bool all_machines = false;  // also what others have under the name
};

struct Forgotten {
  std::string camera;                  // its name
  std::vector<std::string> remaining;  // other machines that have the name, as to_text()
};

// Removes a camera of this machine from the broker: what Home Assistant knows of it, and its
// retained messages, unless they are another machine's. Throws Error(kDeviceLost) as above,
// Error(kNoInput) when there is no such camera, Error(kUsage) when there are several.
Forgotten forget_camera(MqttClient& visit, const ForgetOptions& options);

}  // namespace lookout

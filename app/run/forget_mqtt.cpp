#include "app/run/forget_mqtt.h"

#include <fmt/format.h>

#include "app/options/resolved_run.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/system/system_info.h"

namespace lookout {

std::string forget_mqtt(const RunOptions& options, bool all_machines) {
  const MqttOptions& mqtt = options.mqtt;
  const auto link = resolve_mqtt(mqtt);
  if (!link) {
    throw Error(ErrorKind::kUsage, "mqtt forget: no broker is set; name it with --mqtt URL");
  }
  MqttClient client(*link);
  const Forgotten forgotten = forget_camera(
      client, {options.camera.name, mqtt.prefix, machine_id(), mqtt.discovery, all_machines});
  std::string text = fmt::format("removed from the broker: {}\n", printable(forgotten.camera));
  if (!forgotten.remaining.empty()) {
    text += fmt::format("{} has a camera of this name, too: --all-machines removes it\n",
                        joined(forgotten.remaining, ", "));
  }
  return text;
}

}  // namespace lookout

// lookout doctor: explains why a run would not start, and what would slow it down.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/inspect/check.h"
#include "app/model/models.h"
#include "app/options/options.h"
#include "pipeline/archive/engine_facts.h"
#include "platform/cameras/libcamera_loader.h"
#include "platform/system/system_info.h"

namespace lookout {

// A unit of systemd.
struct ServiceState {
  std::string unit;
  std::string state;  // "active", "failed", ...
};

struct Diagnosis {
  std::vector<Check> checks;  // a run's needs come in the order of a run
  SystemInfo system;
  std::vector<ServiceState> services;  // as Probes::services
  int exit_status = 0;  // of a run that is started now, the first failure's; 0: it would start
};

struct BaseOfHead {
  std::filesystem::path file;
  Engine engine;
};

// The things that the doctor examines. Each function throws Error when its thing cannot be used.
struct Probes {
  std::filesystem::path root = "/";  // of proc, sys, dev, run, usr and etc
  bool as_service = false;           // any configuration is judged as the service would see it
  std::function<EngineFacts(Engine engine)> engine;
  std::function<std::string(const std::string& path)> probe_camera;  // returns the camera's name
  std::function<std::string(const std::string& source, const SourceOptions&)>
      try_source;  // returns the source's description
  std::function<LoadedLibcamera()> libcamera;
  std::function<void(const RunOptions&)> resolve_start;
  std::function<DescribedModel(const ModelOptions&)> load_model;
  std::function<std::optional<std::filesystem::path>()> base;  // as installed_base()
  // The base of a head; nothing for an archive. As read_archive().
  std::function<std::optional<BaseOfHead>(const ModelOptions&)> base_of;
  std::function<std::string(const MqttOptions&)> try_mqtt;   // returns a sentence
  std::function<std::string(const GpioOptions&)> find_line;  // returns the line's description
  std::function<std::vector<ServiceState>()> services;  // of lookout, started since the last boot
};

// Those of this machine.
Probes local_probes();

// Changes nothing on the disk.
Diagnosis diagnose(const RunOptions& options, const Probes& probes);

// With a newline at the end.
std::string to_text(const Diagnosis& diagnosis);
std::string to_json(const Diagnosis& diagnosis);

}  // namespace lookout

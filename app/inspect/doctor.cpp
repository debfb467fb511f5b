#include "app/inspect/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "app/inspect/csi_checks.h"
#include "app/inspect/engine_checks.h"
#include "app/inspect/service_view.h"
#include "app/inspect/try_source.h"
#include "app/model/models.h"
#include "app/options/resolved_run.h"
#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/results/format.h"
#include "pipeline/run/scheduling.h"
#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/v4l2_source.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/reporters/snapshot_folder.h"
#include "platform/system/atomic_file.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

using State = Check::State;

constexpr int kUnusable = static_cast<int>(ErrorKind::kInternal);
constexpr std::chrono::seconds kTimeOfSystemctl{10};

Check check_userland() {
  if (sizeof(void*) >= 8) return {"userland", State::kOk, "64 bits"};
  return {"userland", State::kFailure,
          "32 bits: lookout needs the 64-bit edition of Raspberry Pi OS", kUnusable};
}

Check check_cpu(const SystemInfo& system) {
  std::string text = system.cpu.empty() ? "unknown" : system.cpu;
  if (!system.board.empty()) text += " on " + system.board;
  if (!system.arm) {
    std::vector<std::string> used;
    for (const char* feature : {"avx2", "fma", "avx512f", "avx512_vnni"}) {
      if (system.has_feature(feature)) used.emplace_back(feature);
    }
    if (!used.empty()) text += fmt::format(", {}", joined(used, " "));
    return {"cpu", State::kOk, text};
  }
  if (!system.has_feature("asimd")) return {"cpu", State::kNote, text + ", without NEON"};
  if (system.has_feature("atomics")) return {"cpu", State::kOk, text + ", ARMv8.1 or later"};
  text +=
      ", ARMv8.0: no atomics, no dot product; not every release of an engine's library runs on it";
  return {"cpu", State::kOk, text};
}

Check check_cma(const SystemInfo& system) {
  if (!system.cma_total_kb) return {"cma", State::kOk, "this kernel has none"};
  return {"cma", State::kOk,
          fmt::format("{} MB, {} MB free", *system.cma_total_kb / 1024,
                      system.cma_free_kb.value_or(0) / 1024)};
}

Check check_temperature(const SystemInfo& system) {
  if (!system.state.temperature) return {"temperature", State::kOk, "no sensor"};
  const bool hot = *system.state.temperature >= MachineState::kHot;
  return {
      "temperature", hot ? State::kNote : State::kOk,
      fmt::format("{:.1f} °C{}", *system.state.temperature, hot ? ": the clock is lowered" : "")};
}

Check check_clock(const SystemInfo& system) {
  if (!system.state.clock_mhz) return {"clock", State::kOk, "not told by this kernel"};
  std::string text = fmt::format("{:.0f} MHz", *system.state.clock_mhz);
  if (system.highest_clock_mhz) text += fmt::format(" of {:.0f}", *system.highest_clock_mhz);
  if (!system.governor.empty()) text += ", governor " + system.governor;
  return {"clock", system.governor == "powersave" ? State::kNote : State::kOk, text};
}

Check check_throttling(const SystemInfo& system) {
  if (!system.state.throttled) return {"throttling", State::kOk, "not told by this firmware"};
  const auto words = throttling_words(*system.state.throttled);
  if (words.empty()) return {"throttling", State::kOk, "none since the start"};
  return {"throttling", State::kNote,
          fmt::format("{} (0x{:x})", joined(words, ", "), *system.state.throttled)};
}

Check check_service(const SystemInfo& system, const std::vector<ServiceState>& services) {
  if (!system.systemd) return {"service", State::kOk, "no systemd"};
  if (services.empty()) return {"service", State::kOk, "not started"};
  Check check{"service", State::kOk, ""};
  for (const ServiceState& service : services) {
    if (!check.text.empty()) check.text += ", ";
    check.text += fmt::format("{} is {}", service.unit, service.state);
    if (service.state != "failed") continue;
    check.state = State::kNote;
    check.text += fmt::format(" (journalctl -u {0} -e and systemctl status {0} tell why)",
                              std::filesystem::path(service.unit).stem().string());
  }
  return check;
}

std::vector<Check> check_cameras(const Probes& probes) {
  std::vector<Check> checks;
  for (const std::string& path : video_devices(probes.root)) {
    try {
      checks.push_back({"camera", State::kOk, path + ": " + probes.probe_camera(path)});
    } catch (const Error& error) {
      checks.push_back({"camera", State::kNote, error.what()});
    }
  }
  if (checks.empty()) checks.push_back({"camera", State::kNote, "there is no /dev/video* at all"});
  return checks;
}

// A running service has the camera: that keeps a second run from starting, but nothing is wrong.
void allow_camera_of_service(const std::vector<ServiceState>& services, Check& source) {
  const auto running = std::find_if(services.begin(), services.end(),
                                    [](const auto& service) { return service.state == "active"; });
  const bool in_use = source.exit_status == static_cast<int>(ErrorKind::kDeviceLost);
  if (!in_use || running == services.end()) return;
  source.state = State::kNote;
  source.text += fmt::format(": {} is running", running->unit);
  source.exit_status = 0;
}

// Tries something that a run needs; `use` returns the text of the check.
Check check_need(const std::string& name, const std::function<std::string()>& use) {
  try {
    return {name, State::kOk, use()};
  } catch (const Error& error) {
    return {name, State::kFailure, error.what(), error.exit_status()};
  }
}

// A file or folder that a run writes. The folder of a service is made when it starts.
Check check_output(const std::string& name, const std::string& path, const std::string& unit,
                   const std::function<void()>& check) {
  if (unit.empty()) {
    return check_need(name, [&] {
      check();
      return path;
    });
  }
  if (service_writes(unit, path)) return {name, State::kOk, path};
  return {name, State::kNote,
          fmt::format("{}: unless its unit says otherwise, the service may write to {} only", path,
                      state_folder_of(unit).string())};
}

// Throws for files that the service cannot read though the caller can.
void check_files_of_service(const RunOptions& options) {
  check_service_reads("model", model_path(options.model.file));
  if (!options.model.labels.empty()) check_service_reads("labels", options.model.labels);
  const auto& command = options.events.on_change;
  if (!command.empty() && command[0].find('/') != std::string::npos) {
    check_service_reads("--on-change", command[0]);
  }
}

// The configuration that is judged, and what of the service cannot be checked from here.
std::vector<Check> check_settings(const RunOptions& options, const std::string& unit) {
  std::vector<Check> checks;
  if (!unit.empty()) {
    checks.push_back(
        {"settings", State::kOk,
         fmt::format("{}, of {} (--config '' checks the defaults)", options.config_file, unit)});
    checks.push_back(
        {"sandbox", State::kNote,
         fmt::format("only its start shows whether the user lookout may use the camera "
                     "and run the command: systemctl restart {}",
                     std::filesystem::path(unit).stem().string())});
  } else if (!options.config_file.empty()) {
    checks.push_back({"settings", State::kOk, options.config_file});
  }
  for (const std::string& warning : options.warnings) {
    checks.push_back({"settings", State::kNote, warning});
  }
  return checks;
}

// The needs of a run in its order, which ends with the first failure. `unit`: of the service whose
// configuration it is; empty: of none.
class Needs {
 public:
  Needs(const RunOptions& options, const Probes& probes, std::string unit)
      : options_(options), probes_(probes), unit_(std::move(unit)) {}

  std::vector<Check> check(const std::vector<ServiceState>& services) {
    const std::string& trace = options_.profile.trace;
    if (!trace.empty()) {
      checks_.push_back(
          check_output("trace", trace, unit_, [&trace] { check_can_write("trace", trace); }));
    }
    const bool can_begin = check_beginning();
    const InputSpec input = check_model();
    if (can_begin) {
      check_source(input);
      allow_camera_of_service(services, checks_.back());
    }
    check_rest();
    return std::move(checks_);
  }

 private:
  // The run tries these before it loads a model. Returns whether the source is there.
  bool check_beginning() {
    const Check early = check_need("start", [this] {
      probes_.resolve_start(options_);
      return options_.events.on_change.empty() ? "" : "--on-change " + options_.events.on_change[0];
    });
    if (!early.text.empty()) checks_.push_back(early);
    return early.state == State::kOk;
  }

  // Returns its input; of a model that cannot be loaded the default, that of most models.
  InputSpec check_model() {
    DescribedModel model;
    checks_.push_back(check_need("model", [&] {
      if (!unit_.empty()) check_files_of_service(options_);
      model = probes_.load_model(options_.model);
      return model.text;
    }));
    if (!model.advice.empty()) checks_.push_back({"model", State::kNote, model.advice});
    return model.input;
  }

  void check_source(const InputSpec& input) {
    checks_.push_back(check_need("source", [&] {
      SourceOptions wanted = source_options(options_.camera, input);
      wanted.wait = false;  // an absent camera is a finding
      return probes_.try_source(options_.camera.source, wanted);
    }));
  }

  void check_rest() {
    const std::string& snapshots = options_.events.snapshot_on_change;
    if (!snapshots.empty()) {
      checks_.push_back(check_output("snapshots", snapshots, unit_,
                                     [&snapshots] { check_snapshot_folder(snapshots); }));
    }
    const Scheduling& capture = options_.camera.capture;
    if (capture.realtime_priority > 0 || !capture.cpus.empty()) {
      checks_.push_back(check_need("capture", [&] { return try_scheduling(capture); }));
    }
    if (!options_.mqtt.url.empty()) check_mqtt_broker();
  }

  // A run waits for a broker that is away, so that is no failure.
  void check_mqtt_broker() {
    Check check = check_need("mqtt", [this] { return probes_.try_mqtt(options_.mqtt); });
    if (check.state == State::kFailure) {
      check.state = State::kNote;
      check.exit_status = 0;
    }
    checks_.push_back(std::move(check));
  }

  const RunOptions& options_;
  const Probes& probes_;
  const std::string unit_;
  std::vector<Check> checks_;
};

void append(const std::vector<Check>& more, std::vector<Check>& checks) {
  checks.insert(checks.end(), more.begin(), more.end());
}

std::vector<ServiceState> ask_systemd() {
  const auto end = Clock::now() + kTimeOfSystemctl;
  const ProcessOutput answer =
      capture_process({"systemctl", "list-units", "--all", "--plain", "--no-legend",
                       "lookout.service", "lookout@*.service"},
                      {}, [end] { return Clock::now() > end; });
  std::vector<ServiceState> services;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ServiceState service;
    std::string loaded;
    if (words >> service.unit >> loaded >> service.state) services.push_back(std::move(service));
  }
  return services;
}

const char* state_text(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kNote:
      return "note";
    case State::kFailure:
      return "failure";
  }
  return "";
}

std::string verdict(const Diagnosis& diagnosis) {
  if (diagnosis.exit_status == 0) return "lookout run would start.";
  return fmt::format("lookout run would end with exit status {}.", diagnosis.exit_status);
}

}  // namespace

Probes local_probes() {
  Probes probes;
  probes.engine = facts_apart;
  probes.probe_camera = probe_camera;
  probes.try_source = try_source;
  probes.libcamera = load_libcamera;
  probes.resolve_start = resolve_start;
  probes.load_model = describe_model;
  probes.try_mqtt = [](const MqttOptions& options) {
    const MqttLinkOptions link = resolve_mqtt(options).value();
    const MqttClient client(link);
    return link.party.broker + " accepts the connection";
  };
  probes.services = ask_systemd;
  return probes;
}

Diagnosis diagnose(const RunOptions& options, const Probes& probes) {
  Diagnosis diagnosis;
  diagnosis.system = read_system_info(probes.root);
  const SystemInfo& system = diagnosis.system;
  const auto services = system.systemd ? probes.services() : std::vector<ServiceState>();
  std::vector<Check>& checks = diagnosis.checks;
  checks = {check_userland(), check_cpu(system)};
  for (const EngineRow& row : kEngines) checks.push_back(check_engine(row.engine, probes.engine));
  const std::string unit = unit_of(options.config_file, probes.root / "etc/lookout");
  append(check_settings(options, unit), checks);
  append(Needs(options, probes, unit).check(services), checks);
  append(check_cameras(probes), checks);
  append(check_csi(probes.root, probes.libcamera), checks);
  append({check_cma(system), check_temperature(system), check_clock(system),
          check_throttling(system), check_service(system, services)},
         checks);
  const auto failure = std::find_if(checks.begin(), checks.end(),
                                    [](const Check& check) { return check.exit_status != 0; });
  if (failure != checks.end()) diagnosis.exit_status = failure->exit_status;
  return diagnosis;
}

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Check& check : diagnosis.checks) {
    append_format(text, "{:<8} {:<12} {}\n", state_text(check.state), check.name,
                  printable(check.text));
  }
  return text + verdict(diagnosis) + "\n";
}

std::string to_json(const Diagnosis& diagnosis) {
  Json checks = Json::array();
  for (const Check& check : diagnosis.checks) {
    checks.push_back(
        {{"check", check.name}, {"state", state_text(check.state)}, {"text", check.text}});
  }
  const SystemInfo& system = diagnosis.system;
  const Json report{{"schema", 1},
                    {"type", "doctor"},
                    {"would_start", diagnosis.exit_status == 0},
                    {"exit_status", diagnosis.exit_status},
                    {"checks", std::move(checks)},
                    {"cpu", system.cpu},
                    {"board", system.board},
                    {"cma_total_kb", or_null(system.cma_total_kb)},
                    {"cma_free_kb", or_null(system.cma_free_kb)},
                    {"temperature_c", or_null(system.state.temperature)},
                    {"clock_mhz", or_null(system.state.clock_mhz)},
                    {"highest_clock_mhz", or_null(system.highest_clock_mhz)},
                    {"governor", system.governor},
                    {"throttled", or_null(system.state.throttled)}};
  return to_text(report) + "\n";
}

}  // namespace lookout

#include "app/inspect/doctor.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "app/inspect/service_view.h"
#include "app/model/base.h"
#include "app/model/model_trials.h"
#include "app/options/config_file.h"
#include "app/options/resolved_run.h"
#include "app/options/watches.h"
#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/source.h"
#include "pipeline/core/thread.h"
#include "pipeline/results/throttled_source.h"
#include "pipeline/run/open_model.h"
#include "pipeline/run/scheduling.h"
#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/v4l2_source.h"
#include "platform/gpio/gpio_line.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/sources/open_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/atomic_file.h"
#include "platform/system/machine_notes.h"
#include "platform/system/paths_in.h"
#include "platform/system/process.h"
#include "platform/system/service.h"
#include "platform/system/state_folder.h"
#include "platform/teach/opened_library.h"
#include "platform/teach/taught_models.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using State = Check::State;
using Checks = std::vector<Check>;

State note_if(bool worth_knowing) { return worth_knowing ? State::kNote : State::kOk; }

// ---- The machine

void check_processor(const SystemInfo& system, Checks& checks) {
  if (sizeof(void*) >= 8) {
    checks.push_back({"userland", State::kOk, "64 bits"});
  } else {
    checks.push_back({"userland", State::kFailure,
                      "32 bits: lookout needs the 64-bit edition of Raspberry Pi OS",
                      static_cast<int>(ErrorKind::kInternal)});
  }
  std::string text = system.cpu.empty() ? "unknown" : system.cpu;
  if (!system.board.empty()) text += " on " + system.board;
  if (!system.arm) {
    std::vector<std::string> used;
    for (const char* feature : {"avx2", "fma", "avx512f", "avx512_vnni"}) {
      if (system.has_feature(feature)) used.emplace_back(feature);
    }
    if (!used.empty()) text += ", " + joined(used, " ");
  } else if (!system.has_feature("asimd")) {
    text += ", without NEON";
  } else if (system.has_feature("atomics")) {
    text += ", ARMv8.1 or later";
  } else {
    text +=
        ", ARMv8.0: no atomics, no dot product; not every release of an engine's library runs on "
        "it";
  }
  checks.push_back({"cpu", note_if(system.arm && !system.has_feature("asimd")), text});
}

std::string throttling_text(const MachineState& state) {
  if (!state.throttled) return "not told by this kernel";
  if (const std::string note = power_note(state); !note.empty()) return note;
  return fmt::format(state.voltage_alone
                         ? "no under-voltage now ({}); this kernel tells no more: what was before "
                           "is in journalctl -k --grep voltage"
                         : "none since the start ({})",
                     throttled_source(state));
}

// What heat, power and the kernel do to the machine.
void check_machine(const SystemInfo& system, std::optional<double> heat_limit, Checks& checks) {
  std::string cma = "this kernel has none";
  if (system.cma_total_kb) {
    cma = fmt::format("{} MB, {} MB free", *system.cma_total_kb / 1024,
                      system.cma_free_kb.value_or(0) / 1024);
  }
  checks.push_back({"cma", State::kOk, cma});

  const auto& temperature = system.state.temperature;
  const bool hot = temperature && *temperature >= MachineState::kHot;
  checks.push_back(
      {"temperature", note_if(hot),
       temperature ? fmt::format("{:.1f} °C{}", *temperature, hot ? ": the clock is lowered" : "")
                   : "no sensor"});

  if (heat_limit) {
    const std::string note = heat_note(system.state, heat_limit);
    checks.push_back({"heat", note_if(!note.empty()),
                      note.empty() ? fmt::format("limit {:g} °C", *heat_limit) : note});
  }

  std::string clock = "not told by this kernel";
  const std::string governor = governor_note(system);
  if (system.state.clock_mhz) {
    clock = fmt::format("{:.0f} MHz", *system.state.clock_mhz);
    if (system.highest_clock_mhz) clock += fmt::format(" of {:.0f}", *system.highest_clock_mhz);
    if (!governor.empty()) {
      clock += ", " + governor;
    } else if (!system.governor.empty()) {
      clock += ", governor " + system.governor;
    }
  }
  checks.push_back({"clock", note_if(system.state.clock_mhz && !governor.empty()), clock});
  checks.push_back(
      {"throttling", note_if(!power_note(system.state).empty()), throttling_text(system.state)});
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
                              fs::path(service.unit).stem().string());
  }
  return check;
}

// An engine that cannot be used is a note: it keeps only models of its format from running, which
// the check of the model tells.
Check check_engine(Engine engine, const Probes& probes) {
  EngineFacts facts;
  Check check = tried(row_of(engine).check, State::kNote, [&] {
    facts = probes.engine(engine);
    return fmt::format("{}, engines {}; {}", facts.version, joined(facts.engines, ", "),
                       facts.lack.empty() ? facts.used + " is used" : facts.lack);
  });
  if (!facts.lack.empty()) check.state = State::kNote;
  return check;
}

// What `lookout train` takes without --model. A run does without.
Check check_base(const Probes& probes) {
  const auto base = probes.base();
  if (base) return {"base", State::kOk, base->string() + ", to teach classes from"};
  return {"base", State::kNote, std::string("there is none to teach classes from: ") + kWayToBase};
}

// ---- Cameras

void check_cameras(const Probes& probes, Checks& checks) {
  const auto paths = video_devices(probes.root);
  for (const std::string& path : paths) {
    checks.push_back(
        tried("camera", State::kNote, [&] { return path + ": " + probes.probe_camera(path); }));
  }
  if (paths.empty()) checks.push_back({"camera", State::kNote, "there is no /dev/video* at all"});
}

// libcamera with lookout's module and libcamera's own modules for image processing (IPA).
Check check_libcamera(const Probes& probes) {
  std::string problem;
  Check check = tried("libcamera", State::kNote, [&] {
    const LoadedLibcamera loaded = probes.libcamera();
    const auto versions = ipa_versions(probes.root);
    if (versions.empty()) {
      problem =
          "; the cameras of a Raspberry Pi also need its IPA modules: sudo apt install "
          "libcamera-ipa";
    } else if (std::count(versions.begin(), versions.end(), loaded.soname) == 0) {
      problem = "; libcamera-ipa is of another version: sudo apt full-upgrade";
    }
    return fmt::format("{}, by the module {}{}", loaded.version, loaded.module, problem);
  });
  if (!problem.empty()) check.state = State::kNote;
  return check;
}

// The memory that CSI cameras take buffers from. As raspberrypi-sys-mods and the package's own udev
// rule set it.
Check check_heaps(const fs::path& root) {
  auto heaps = paths_in(root / "dev/dma_heap");
  std::sort(heaps.begin(), heaps.end());
  if (heaps.empty()) return {"dma-heap", State::kOk, "this kernel has none"};
  std::vector<std::string> names;
  for (const fs::path& heap : heaps) {
    names.push_back(heap.filename());
    struct stat status {};
    if (::stat(heap.c_str(), &status) != 0) continue;
    const struct group* entry = ::getgrgid(status.st_gid);
    const std::string group = entry == nullptr ? std::to_string(status.st_gid) : entry->gr_name;
    constexpr mode_t kReadAndWrite = S_IRGRP | S_IWGRP;
    if (group == "video" && (status.st_mode & kReadAndWrite) == kReadAndWrite) continue;
    return {
        "dma-heap", State::kNote,
        fmt::format("{} is of the group {}, mode {:03o}: CSI cameras need the group video and 660; "
                    "sudo udevadm trigger --subsystem-match=dma_heap applies the rule",
                    heap.string(), group, status.st_mode & 0777U)};
  }
  return {"dma-heap", State::kOk, joined(names, ", ") + " of the group video"};
}

// ---- The service as seen from the outside

// Throws for files that the service cannot read though the caller can.
void check_files_of_service(const RunOptions& options, const Probes& probes) {
  check_service_reads("model", model_path(options.model.file));
  if (const auto base = probes.base_of(options.model)) check_service_reads("base", base->file);
  if (!options.model.labels.empty()) check_service_reads("labels", options.model.labels);
  const auto& command = options.events.on_change;
  if (!command.empty() && command[0].find('/') != std::string::npos) {
    check_service_reads("--on-change", command[0]);
  }
}

// ---- The needs of a run

// The configuration that is judged, and what of the service cannot be checked from here.
void check_settings(const RunOptions& options, const std::string& unit, Checks& checks) {
  if (!unit.empty()) {
    checks.push_back(
        {"settings", State::kOk,
         fmt::format("{}, of {} (--config '' checks the defaults)", options.config_file, unit)});
    checks.push_back(
        {"sandbox", State::kNote,
         fmt::format("only its start shows whether the user lookout may use the camera "
                     "and run the command: systemctl restart {}",
                     fs::path(unit).stem().string())});
  } else if (!options.config_file.empty()) {
    checks.push_back({"settings", State::kOk, options.config_file});
  }
  const std::vector<std::string> drop_ins = drop_ins_of(options.config_file);
  if (!drop_ins.empty()) {
    checks.push_back(tried("settings", State::kFailure, [&] {
      for (const std::string& file : drop_ins) {
        if (!unit.empty()) check_service_may_read("configuration", file);
      }
      return "read after it, the last one wins: " + joined(drop_ins, ", ");
    }));
  }
  for (const std::string& warning : options.warnings) {
    checks.push_back({"settings", State::kNote, warning});
  }
}

// A file or folder that a run writes; empty: none. That of a service is made when it starts.
void check_output(const std::string& name, const std::string& path, const std::string& unit,
                  const std::function<void()>& check, Checks& checks) {
  if (path.empty()) return;
  const fs::path state_folder = fs::path("/var/lib") / fs::path(unit).stem();
  if (unit.empty()) {
    checks.push_back(tried(name, State::kFailure, [&] {
      check();
      return path;
    }));
  } else if (is_in(path, state_folder)) {
    checks.push_back({name, State::kOk, path});
  } else {
    checks.push_back({name, State::kNote,
                      fmt::format("{}: unless its unit says otherwise, the service may write to {} "
                                  "only",
                                  path, state_folder.string())});
  }
}

// A device that a running service has keeps a second run from starting, but nothing is wrong.
Check unless_running(const Check& check, const std::vector<ServiceState>& services) {
  const auto running = std::find_if(services.begin(), services.end(),
                                    [](const auto& service) { return service.state == "active"; });
  const bool in_use = check.exit_status == static_cast<int>(ErrorKind::kDeviceLost);
  if (!in_use || running == services.end()) return check;
  return {check.name, State::kNote, fmt::format("{}: {} is running", check.text, running->unit)};
}

Check check_run_source(const RunOptions& options, SourceOptions wanted, const Probes& probes,
                       const std::vector<ServiceState>& services) {
  return unless_running(tried("source", State::kFailure,
                              [&] {
                                wanted.wait = false;  // an absent camera is a finding
                                return probes.try_source(options.camera.source, wanted);
                              }),
                        services);
}

// Schedules a thread that ends at once, not the calling one. Returns what was granted.
std::string try_scheduling(const Scheduling& scheduling) {
  std::exception_ptr error;
  start_thread("capture", [&] {
    try {
      schedule_this_thread(scheduling);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  std::vector<std::string> granted;
  if (scheduling.realtime_priority > 0) {
    granted.push_back(fmt::format("real-time priority {}", scheduling.realtime_priority));
  }
  if (!scheduling.cpus.empty()) {
    granted.push_back(fmt::format("processors {}", joined(scheduling.cpus, ",")));
  }
  return joined(granted, ", ");
}

fs::path state_folder_of(const std::string& unit, const Probes& probes) {
  return probes.root / "var/lib" / fs::path(unit).stem();
}

// Those of all watches, each once. Returns how the source is opened for them. `used`: the engine of
// the first model that is loaded, as of a run.
SourceOptions check_models(const RunOptions& options, const std::string& unit, const Probes& probes,
                           std::optional<Engine>& used, Checks& checks) {
  std::map<std::pair<std::string, std::string>, DescribedModel> models;  // by file and labels
  std::vector<SourceOptions> wishes;
  for (const Watch& watch : watches_of(options)) {
    const ModelOptions& file = watch.options.model;
    // One that cannot be loaded has the default input, that of most models.
    const auto [known, is_new] = models.try_emplace({file.file, file.labels});
    DescribedModel& model = known->second;
    if (is_new) {
      checks.push_back(tried("model", State::kFailure, [&] {
        if (!unit.empty()) check_files_of_service(watch.options, probes);
        model = probes.load_model(file);
        if (!used) used = model.engine;
        if (model.engine != *used) throw OtherEngine(model.engine, *used);
        return model.text;
      }));
      if (!model.advice.empty()) checks.push_back({"model", State::kNote, model.advice});
      const fs::path folder = unit.empty() ? state_folder() : state_folder_of(unit, probes);
      const std::string fallback = fallback_note(folder, file.file);
      if (!fallback.empty()) checks.push_back({"model", State::kNote, fallback});
    }
    wishes.push_back(source_options(watch.options.camera, model.input));
  }
  return largest(wishes);
}

// Watches that were taught in the browser, which a run takes besides those of the configuration.
// One whose model is no good is left out by a run, and ends none. `used`: the engine of the run.
// Nothing is run: the files are the service's, and doctor may be root.
void check_taught(const RunOptions& options, const std::string& unit, const Probes& probes,
                  std::optional<Engine> used, Checks& checks) {
  const fs::path folder = unit.empty() ? state_folder() : state_folder_of(unit, probes);
  if (!options.http.teach || folder.empty()) return;
  if (access(folder.c_str(), R_OK | X_OK) != 0 && errno == EACCES) {
    checks.push_back({"taught", State::kNote, folder.string() + " may not be read: use sudo"});
    return;
  }
  const std::string damaged = note_of_damaged(folder / "teach");
  if (!damaged.empty()) checks.push_back({"taught", State::kNote, damaged});
  for (const TaughtRun& run : TaughtModelStore(models_folder_of(folder / "teach")).in_use()) {
    if (!run.problem.empty()) {
      checks.push_back(
          {"taught", State::kNote,
           fmt::format("{}: it is not watched: {} {}", run.watch, run.head.string(), run.problem)});
      continue;
    }
    checks.push_back(tried("taught", State::kNote, [&] {
      ModelOptions model = options.model;
      model.file = run.head;
      const auto base = probes.base_of(model);
      if (base && used && base->engine != *used) {
        throw Error(
            ErrorKind::kUnsupported,
            fmt::format("{}: it is not watched: its base {} is for {}, and the models of "
                        "the configuration are for {}; teach it again",
                        run.watch, base->file.string(), to_text(base->engine), to_text(*used)));
      }
      return fmt::format("{}: {}, behind its base {}", run.watch, run.head.string(),
                         base ? base->file.string() : "");
    }));
  }
}

// In the order of a run, which ends with the first failure. `unit`: of the service whose
// configuration it is; empty: of none.
void check_needs(const RunOptions& options, const std::string& unit, const Probes& probes,
                 const std::vector<ServiceState>& services, Checks& checks) {
  const std::string& trace = options.profile.trace;
  check_output(
      "trace", trace, unit, [&trace] { check_can_write("trace", trace); }, checks);

  const Check start = tried("start", State::kFailure, [&] {
    probes.resolve_start(options);
    const auto& command = options.events.on_change;
    return command.empty() ? "" : "--on-change " + command[0];
  });
  if (!start.text.empty()) checks.push_back(start);

  std::optional<Engine> used;
  const SourceOptions wanted = check_models(options, unit, probes, used, checks);
  check_taught(options, unit, probes, used, checks);
  if (start.state == State::kOk) {
    checks.push_back(check_run_source(options, wanted, probes, services));
  }
  const std::string& snapshots = options.events.snapshot_on_change;
  check_output(
      "snapshots", snapshots, unit, [&] { check_snapshot_folder(snapshots); }, checks);
  const std::string& history = options.history.folder;
  check_output(
      "history", history, unit, [&] { check_state_folder("history.folder", history); }, checks);
  const Scheduling& capture = options.camera.capture;
  if (capture.realtime_priority > 0 || !capture.cpus.empty()) {
    checks.push_back(tried("capture", State::kFailure, [&] { return try_scheduling(capture); }));
  }
  // A run waits for a broker that is away, so that is no failure.
  if (!options.mqtt.url.empty()) {
    checks.push_back(tried("mqtt", State::kNote, [&] { return probes.try_mqtt(options.mqtt); }));
  }
  if (start.state == State::kOk && options.webhook.sends()) {
    checks.push_back({"webhook", State::kOk,
                      "the URL, the headers and the texts can be used; nothing was sent"});
  }
  if (options.gpio.line) {
    checks.push_back(unless_running(
        tried("gpio", State::kFailure, [&] { return probes.find_line(options.gpio); }), services));
  }
}

// ---- This machine

// In a process of its own: one process cannot have two engines, and on another processor than they
// were built for they crash.
EngineFacts facts_apart(Engine engine) {
  const auto ask = [engine] {
    const EngineFacts facts = engine_facts(engine);
    return to_text(Json{facts.version, facts.engines, facts.lack, facts.used});
  };
  const auto facts = parse_json(run_in_child(to_text(engine), ask));
  return {facts[0], facts[1], facts[2], facts[3]};
}

std::optional<BaseOfHead> base_of(const ModelOptions& options) {
  const NamedModel model = read_archive(options);
  if (!model.head) return std::nullopt;
  return BaseOfHead{model.archive.path(), model.archive.engine()};
}

// Opens a source and, unless it is live, reads up to the first frame, for at most ten seconds.
std::string try_source(const std::string& text, const SourceOptions& options) {
  const auto source = open_source(text, options);
  const std::string description = source->info().description;
  if (is_stream(text)) return description + ", which doctor does not read";
  if (source->info().live) return description;
  Frame frame;
  int skipped = 0;
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (Clock::now() < end) {
    const ReadStatus status = source->read(frame, std::chrono::milliseconds(100));
    if (status == ReadStatus::kFrame) break;
    if (status == ReadStatus::kSkipped) ++skipped;
    if (status != ReadStatus::kEnd) continue;
    throw Error(ErrorKind::kNoInput, skipped == 0
                                         ? shown_source(text) + ": there is no frame in it"
                                         : fmt::format("{}: none of the {} pictures can be read",
                                                       shown_source(text), skipped));
  }
  return description;
}

std::vector<ServiceState> ask_systemd() {
  const auto end = Clock::now() + std::chrono::seconds(10);
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

}  // namespace

Probes local_probes() {
  Probes probes;
  probes.engine = facts_apart;
  probes.probe_camera = probe_camera;
  probes.try_source = try_source;
  probes.libcamera = load_libcamera;
  probes.resolve_start = resolve_start;
  probes.load_model = describe_model;
  probes.base = [] { return installed_base(); };
  probes.base_of = base_of;
  probes.try_mqtt = [](const MqttOptions& options) {
    const MqttLinkOptions link = resolve_mqtt(options).value();
    const MqttClient client(link);
    return link.party.broker + " accepts the connection";
  };
  probes.find_line = [](const GpioOptions& gpio) {
    return describe_gpio_line(
        {gpio.chip, static_cast<std::uint32_t>(gpio.line.value()), gpio.active_low});
  };
  probes.services = ask_systemd;
  return probes;
}

Diagnosis diagnose(const RunOptions& options, const Probes& probes) {
  Diagnosis diagnosis;
  diagnosis.system = read_system_info(probes.root);
  const SystemInfo& system = diagnosis.system;
  if (system.systemd) diagnosis.services = probes.services();
  const auto& services = diagnosis.services;
  std::string unit = unit_of_service(options.config_file, probes.root / "etc/lookout");
  if (probes.as_service && unit.empty()) unit = "lookout.service";
  Checks& checks = diagnosis.checks;
  check_processor(system, checks);
  for (const EngineRow& row : kEngines) checks.push_back(check_engine(row.engine, probes));
  check_settings(options, unit, checks);
  if (probes.as_service) check_service_view(options, unit, probes.root, checks);
  check_needs(options, unit, probes, services, checks);
  checks.push_back(check_base(probes));
  check_cameras(probes, checks);
  checks.push_back(check_libcamera(probes));
  checks.push_back(check_heaps(probes.root));
  check_machine(system, options.heat.limit, checks);
  checks.push_back(check_service(system, services));
  const auto failure = std::find_if(checks.begin(), checks.end(),
                                    [](const Check& check) { return check.exit_status != 0; });
  if (failure != checks.end()) diagnosis.exit_status = failure->exit_status;
  return diagnosis;
}

}  // namespace lookout

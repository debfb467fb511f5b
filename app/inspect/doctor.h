// lookout doctor: tells why a run would not start, and what would slow it down.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/torch/torch_classifier.h"
#include "platform/system/system_info.h"

namespace lookout {

struct Check {
  enum class State {
    kOk,
    kNote,     // worth knowing
    kFailure,  // keeps a run from starting
  };
  std::string name;
  State state = State::kOk;
  std::string text;
};

struct Diagnosis {
  std::vector<Check> checks;
  SystemInfo system;
  int exit_status = 0;  // that a run started now would end with at once; 0: it would start
};

// A unit of systemd's, and "active", "failed", ...
struct ServiceState {
  std::string unit;
  std::string state;
};

struct DescribedModel {
  std::string text;
  InputSpec input;
};

// Where the doctor looks. Each function throws Error when what it looks at is not usable.
struct Patient {
  std::filesystem::path root = "/";  // of proc, sys, dev and run
  LibTorchFacts libtorch;
  std::function<std::string(const std::string& path)> probe_camera;  // its name
  std::function<std::string(const std::string& source, const SourceOptions&)>
      open_source;  // its description
  std::function<DescribedModel(const RunOptions&)> load_model;
  std::function<std::vector<ServiceState>()> services;  // of lookout, started since the last boot
};

// This machine.
Patient this_machine();

Diagnosis diagnose(const RunOptions& options, const Patient& patient);

// With a newline at the end.
std::string to_text(const Diagnosis& diagnosis);
std::string to_json(const Diagnosis& diagnosis);

}  // namespace lookout

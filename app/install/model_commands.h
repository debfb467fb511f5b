// `lookout model install`, `back` and `list`: a model in the place of the one that a configuration
// names, kept by ModelStore.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/options/options.h"
#include "pipeline/core/frame.h"

namespace lookout {

// The service that has the configuration.
struct ServiceControl {
  std::string unit;                    // "lookout.service"; empty: no service has it
  std::filesystem::path state_folder;  // where its run notes what models do; empty: unknown
  // Throws Error for a file that it does not see or may not read.
  std::function<void(const std::filesystem::path&)> check_reads;
  std::function<std::string()> state;  // "active", "failed", ...
  // Has it read the configuration and models again; `restart`: as a new process. Does not wait.
  // Throws Error(kPermission).
  std::function<void(bool restart)> reload;
  std::function<void()> pause;  // for a moment
  std::function<Clock::time_point()> now;
};

// That of this machine. `config_file`: empty: none.
ServiceControl local_service(const std::string& config_file);

// Both return the text that tells what was done. They judge the model in a process of its own, as
// the service's user and for at most 30 s, put it in place, reload the service and wait 30 s until
// the new model answers; otherwise the one before is put back. Throw Error(kUsage) for a watch that
// there is not or is not named, Error(kConfig) when the configuration names no file that may be
// replaced, Error(kNoInput), Error(kPermission) and Error(kOutput) as of files, and Error(kBadData)
// for a model that is refused or does not answer. After each of these the model is the one before.
std::string install_model(const RunOptions& options, const ModelCommandOptions& command,
                          const ServiceControl& service);
std::string put_model_back(const RunOptions& options, const ModelCommandOptions& command,
                           const ServiceControl& service);

// The models of all watches, or of one. Changes nothing.
std::string list_models(const RunOptions& options, const ModelCommandOptions& command,
                        const ServiceControl& service);

}  // namespace lookout

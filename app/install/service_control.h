// The service of a configuration, as the commands see it that change something for it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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

// Runs systemctl(1) for at most a minute and returns the first line that it prints. Throws
// Error(kPermission) with its words when it fails, but for `is-active` and `is-enabled`, which tell
// an answer by their status.
std::string run_systemctl(const std::vector<std::string>& arguments);

// That of this machine. `config_file`: empty: none.
ServiceControl local_service(const std::string& config_file);

}  // namespace lookout

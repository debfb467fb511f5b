#include "app/install/reload_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kOutcomeLimit{60};  // a model may have to be loaded
constexpr std::chrono::seconds kBetweenLooks{1};   // at whether the service is there

// "lookout" of "lookout.service".
std::string short_name(const std::string& unit) { return fs::path(unit).stem().string(); }

void require_running(const ServiceControl& service) {
  const std::string state = service.state();
  if (state == "active") return;
  const char* way = state == "activating" ? "" : ": sudo systemctl start ";
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("{} is {}; its start reads the configuration{}{}", service.unit,
                          state.empty() ? "unknown" : state, way,
                          *way == '\0' ? "" : short_name(service.unit)));
}

// The folder is of the service's user and group.
void require_readable(const ServiceControl& service) {
  if (::access(service.state_folder.c_str(), R_OK | X_OK) == 0) return;
  std::error_code unseen;
  if (!fs::exists(service.state_folder, unseen) && !unseen) return;
  throw Error(ErrorKind::kPermission,
              fmt::format("{} cannot be read, where {} tells what comes of it: run it with sudo",
                          service.state_folder.string(), service.unit));
}

ReloadOutcome wait_for_outcome(const ServiceControl& service, Clock::time_point asked) {
  auto next_look = asked + kBetweenLooks;
  while (service.now() < asked + kOutcomeLimit) {
    if (auto outcome = outcome_since(asked, service)) return *outcome;
    service.pause();
    if (service.now() < next_look) continue;
    next_look = service.now() + kBetweenLooks;
    require_running(service);
  }
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("{} has told nothing for {} s: journalctl -u {} -e shows whether it "
                          "still loads a model",
                          service.unit, kOutcomeLimit.count(), short_name(service.unit)));
}

}  // namespace

std::optional<ReloadOutcome> outcome_since(Clock::time_point asked, const ServiceControl& service) {
  auto outcome = read_reload_outcome(service.state_folder);
  if (!outcome || outcome->begun < asked || outcome->begun > service.now()) return std::nullopt;
  return outcome;
}

std::string reload_service(const RunOptions& options, const ServiceControl& service) {
  if (service.unit.empty()) {
    const std::string& file = options.config_file;
    throw Error(
        ErrorKind::kUsage,
        (file.empty() ? "there is no /etc/lookout/lookout.toml, which the package lookout brings"
                      : file + " is not the configuration of a service") +
            ": kill -USR2 PID has a run of your own read it again");
  }
  require_running(service);
  require_readable(service);
  const auto asked = service.now();
  service.reload(/*restart=*/false);
  const ReloadOutcome outcome = wait_for_outcome(service, asked);
  if (!outcome.error.empty()) {
    throw Error(static_cast<ErrorKind>(outcome.exit_status),
                fmt::format("{}: nothing was changed: {}", service.unit, outcome.error));
  }
  std::string text = fmt::format("{}: {}\n", service.unit, taken_text(outcome));
  if (const std::string kept = kept_text(outcome); !kept.empty()) {
    text += fmt::format("{}: {}: sudo systemctl restart {}\n", service.unit, kept,
                        short_name(service.unit));
  }
  return text;
}

}  // namespace lookout

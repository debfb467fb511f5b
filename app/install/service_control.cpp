#include "app/install/service_control.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/system/process.h"
#include "platform/system/service.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// A unit without ExecReload= is restarted.
void reload_unit(const std::string& unit, bool restart) {
  const bool can_reload =
      !restart && run_systemctl({"show", "--property=CanReload", "--value", unit}) == "yes";
  run_systemctl({can_reload ? "reload" : "restart", "--no-block", unit});
}

}  // namespace

std::string run_systemctl(const std::vector<std::string>& arguments) {
  constexpr std::chrono::seconds kLimit{60};  // a service that stops has ten of them
  std::vector<std::string> command{"systemctl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto end = Clock::now() + kLimit;
  const ProcessOutput answer = capture_process(command, {}, [end] { return Clock::now() > end; });
  const bool is_question = arguments.front() == "is-active" || arguments.front() == "is-enabled";
  if (!answer.problem.empty() && !is_question) {
    throw Error(ErrorKind::kPermission,
                fmt::format("{}: {}", joined(command, " "),
                            answer.err.empty() ? answer.problem : printable(answer.err)));
  }
  return answer.out.substr(0, answer.out.find('\n'));
}

ServiceControl local_service(const std::string& config_file) {
  constexpr std::chrono::milliseconds kPause{100};
  ServiceControl service;
  service.unit = unit_of_service(config_file);
  const std::string& unit = service.unit;
  service.state_folder =
      unit.empty() ? state_folder() : fs::path("/var/lib") / fs::path(unit).stem();
  service.check_reads = [unit](const fs::path& file) {
    if (!unit.empty()) check_service_reads("model", file);
  };
  service.state = [unit] { return run_systemctl({"is-active", unit}); };
  service.reload = [unit](bool restart) { reload_unit(unit, restart); };
  service.pause = [kPause] { std::this_thread::sleep_for(kPause); };
  service.now = Clock::now;
  return service;
}

}  // namespace lookout

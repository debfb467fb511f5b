#include "app/report/machine_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace lookout {

Facts machine_facts(const SystemInfo& system, const std::string& kind, int processors,
                    const std::string& engine) {
  const std::string clock =
      system.highest_clock_mhz ? fmt::format("up to {:.0f} MHz", *system.highest_clock_mhz) : "";
  const std::string separator = clock.empty() || system.governor.empty() ? "" : ", ";
  return {
      {"board", system.board},
      {"kind", kind},
      {"processor", fmt::format("{}{}{} processor{}", system.cpu, system.cpu.empty() ? "" : ", ",
                                processors, processors == 1 ? "" : "s")},
      {"clock", clock + separator + system.governor},
      {"memory", system.memory_kb ? fmt::format("{} MB", *system.memory_kb / 1024) : ""},
      {"system", system.system},
      {"kernel", system.kernel},
      {"engine", engine}};
}

Facts machine_facts(const ModelFacts& model) {
  const SystemInfo system = read_system_info();
  return machine_facts(system, machine_kind(system, kBuiltForArm), processors(),
                       fmt::format("{}, {}", library_text(model), model.engine));
}

std::string made_by(const std::string& version) {
  return fmt::format("lookout {}, {:%Y-%m-%d %H:%M}", version, fmt::localtime(std::time(nullptr)));
}

}  // namespace lookout

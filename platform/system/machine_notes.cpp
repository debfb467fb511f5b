#include "platform/system/machine_notes.h"

#include <fmt/format.h>

#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "pipeline/results/throttled_source.h"

namespace lookout {

std::string governor_note(const SystemInfo& system) {
  const std::string& governor = system.governor;
  std::string effect;
  if (governor == "powersave") {
    effect = "the clock stays at its lowest, and each frame takes longer";
  } else if (governor == "ondemand" || governor == "conservative") {
    effect = "the clock is lowered between frames, and some frames take longer";
  } else {
    return {};
  }
  return fmt::format(
      "governor {}: {}; for an even latency, at the cost of some heat: echo performance | sudo tee "
      "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
      governor, effect);
}

std::string power_note(const MachineState& state) {
  const std::uint32_t bits = state.throttled.value_or(0);
  const auto words = throttling_words(bits);
  if (words.empty()) return {};
  constexpr std::uint32_t kUnderVoltage = 0x1'0001;
  std::string advice;
  if ((bits & kUnderVoltage) != 0) {
    advice += "; under-voltage needs a stronger power supply or a shorter cable";
  }
  if ((bits & ~kUnderVoltage) != 0) {
    advice += "; a clock that was lowered needs cooling or better power, or set heat.limit";
  }
  std::string source = throttled_source(state);
  if (!state.voltage_alone) source += fmt::format(" 0x{:x}", bits);
  return fmt::format("{} ({}){}", joined(words, ", "), source, advice);
}

std::string heat_note(const MachineState& state, std::optional<double> limit) {
  if (!limit) return {};
  if (!state.temperature) {
    return "heat.limit does nothing: this machine has no sensor of its temperature";
  }
  if (*limit <= MachineState::kHot) return {};
  return fmt::format("heat.limit {:g}: a Raspberry Pi 4 lowers its clock at {:g} °C already",
                     *limit, MachineState::kHot);
}

}  // namespace lookout

#include <fmt/format.h>

#include "app/inspect/doctor.h"
#include "app/report/json.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/throttled_source.h"

namespace lookout {
namespace {

const char* state_text(Check::State state) {
  switch (state) {
    case Check::State::kOk:
      return "ok";
    case Check::State::kNote:
      return "note";
    case Check::State::kFailure:
      return "failure";
  }
  return "";
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Check& check : diagnosis.checks) {
    append_format(text, "{:<8} {:<12} {}\n", state_text(check.state), check.name,
                  printable(check.text));
  }
  if (diagnosis.exit_status == 0) return text + "lookout run would start.\n";
  return text + fmt::format("lookout run would end with exit status {}.\n", diagnosis.exit_status);
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
                    {"throttled", or_null(system.state.throttled)},
                    {"throttled_source", throttled_source(system.state)}};
  return to_text(report) + "\n";
}

}  // namespace lookout

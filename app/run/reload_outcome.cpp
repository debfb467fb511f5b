#include "app/run/reload_outcome.h"

#include <chrono>
#include <cstdint>
#include <system_error>

#include "app/report/json.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "reload.json";

// "a, b and c".
std::string enumeration(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

std::string taken_text(const ReloadOutcome& outcome) {
  if (outcome.changed.empty()) return "nothing changed";
  return enumeration(outcome.changed) + " changed";
}

std::string kept_text(const ReloadOutcome& outcome) {
  if (outcome.kept.empty()) return {};
  const char* verb = outcome.kept.size() == 1 ? "changes" : "change";
  return enumeration(outcome.kept) + " " + verb + " with a restart";
}

void write_reload_outcome(const fs::path& state_folder, const ReloadOutcome& outcome) {
  try {
    const auto since = outcome.begun.time_since_epoch();
    const std::int64_t begun = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
    const Json json{{"schema", 1},
                    {"begun_ns", begun},
                    {"changed", outcome.changed},
                    {"kept", outcome.kept},
                    {"error", outcome.error},
                    {"exit_status", outcome.exit_status},
                    {"needs_restart", outcome.needs_restart}};
    const std::string text = to_text(json) + "\n";
    AtomicFile("outcome of a reload", state_folder / kFileName)
        .save([&text](const WritePart& part) { part(text); });
  } catch (const Error& error) {
    log_warn("{}: lookout reload cannot tell what came of it", error.what());
  }
}

std::optional<ReloadOutcome> read_reload_outcome(const fs::path& state_folder) {
  const fs::path path = state_folder / kFileName;
  std::error_code unseen;
  if (!fs::exists(path, unseen)) return std::nullopt;
  try {
    const auto json = parse_json(read_input("outcome of a reload", path.string()));
    ReloadOutcome outcome;
    const std::chrono::nanoseconds begun(json.at("begun_ns").get<std::int64_t>());
    outcome.begun = Clock::time_point(begun);
    outcome.changed = json.at("changed").get<std::vector<std::string>>();
    outcome.kept = json.at("kept").get<std::vector<std::string>>();
    outcome.error = json.at("error").get<std::string>();
    outcome.exit_status = json.at("exit_status").get<int>();
    outcome.needs_restart = json.value("needs_restart", false);
    return outcome;
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

}  // namespace lookout

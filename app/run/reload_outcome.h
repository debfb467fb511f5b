// What came of a reload, which a run notes for `lookout reload` and `lookout model` to read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"

namespace lookout {

struct ReloadOutcome {
  Clock::time_point begun;           // of the reload, on the clock that all processes have
  std::vector<std::string> changed;  // "watch.lamp.roi", "the model gate"
  std::vector<std::string> kept;     // names of keys that change with a restart
  std::string error;                 // why nothing was changed; empty: it was taken
  int exit_status = 0;               // that a start would have; 0: it was taken
  bool needs_restart = false;        // `error` is of this process: a start may take it
};

// What was taken, "a and b changed", and what was not, "c changes with a restart": for people.
// Nothing for what there is not.
std::string taken_text(const ReloadOutcome& outcome);
std::string kept_text(const ReloadOutcome& outcome);

// Replaces the file reload.json in the state folder of the run. What goes wrong is logged.
void write_reload_outcome(const std::filesystem::path& state_folder, const ReloadOutcome& outcome);

// That of the last reload; nothing when there was none, or it cannot be read.
std::optional<ReloadOutcome> read_reload_outcome(const std::filesystem::path& state_folder);

}  // namespace lookout

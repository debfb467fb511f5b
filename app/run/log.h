// Where log lines go: stderr, or above the display of a terminal.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "platform/reporters/terminal.h"

namespace lookout {

// Log lines go to stderr, since stdout is for data. Called before anything can log.
void set_up_log();

// `level` as in LogOptions.
void set_log_level(const std::string& level);

// While it lives, log lines go above the terminal's display instead of to stderr.
class LogAboveDisplay {
 public:
  // `terminal` outlives this.
  explicit LogAboveDisplay(Terminal& terminal);
  ~LogAboveDisplay();
  LogAboveDisplay(const LogAboveDisplay&) = delete;
  LogAboveDisplay& operator=(const LogAboveDisplay&) = delete;

 private:
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace lookout

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

// Reports log lines that were dropped because stderr's reader was slow, if there is room now.
void flush_log();

// Prints the reason why the program ends to stderr, after the log. Waits at most a second for a
// reader that stalls.
void print_last_sentence(const std::string& sentence);

// While it lives, log lines go above the terminal's display instead of to stderr. There is one in a
// process. Other threads may log at any time.
class LogAboveDisplay {
 public:
  // `terminal` outlives this.
  explicit LogAboveDisplay(Terminal& terminal);
  ~LogAboveDisplay();
  LogAboveDisplay(const LogAboveDisplay&) = delete;
  LogAboveDisplay& operator=(const LogAboveDisplay&) = delete;

 private:
  class Sink;

  std::shared_ptr<spdlog::logger> before_;
  std::shared_ptr<Sink> sink_;
};

}  // namespace lookout

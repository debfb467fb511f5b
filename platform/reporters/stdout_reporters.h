// The reporters of the command line: plain text, JSON lines, a display on a terminal, and the log.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/reporter.h"
#include "pipeline/results/format.h"
#include "platform/reporters/terminal.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {

// One line of text a frame. Of the camera's coming and going the log tells.
class TextReporter : public Reporter {
 public:
  // With `states` each line ends with the state; else that is the first prediction.
  explicit TextReporter(NonBlockingWriter& output, bool states = false)
      : output_(output), states_(states) {}
  void report(const Result& result, const Frame& frame) override;

 private:
  NonBlockingWriter& output_;
  bool states_;
  std::string line_;
};

// One JSON object a frame, one for each change of the state, for each statistics interval and for a
// camera that comes or goes, and one at the end. When a change of the state cannot be written
// because the reader is slow, it is written with the next line that can.
class JsonReporter : public Reporter {
 public:
  // `operators`: what was measured of them so far; empty: they are not sampled.
  JsonReporter(NonBlockingWriter& output, JsonFormat format,
               std::function<OperatorTable()> operators = {})
      : output_(output), format_(std::move(format)), operators_(std::move(operators)) {}
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  void begin();
  void end();

  NonBlockingWriter& output_;
  JsonFormat format_;
  std::function<OperatorTable()> operators_;
  std::string unsaid_state_;  // a line, until it is written
  std::string line_;
};

// The top list with bars, rates and latency, in place; without a camera, since when.
class TerminalReporter : public Reporter {
 public:
  // `title` stands on top; `top_k` lines are reserved for predictions. With `states` the state is
  // shown, too.
  TerminalReporter(Terminal& terminal, std::string title, std::size_t top_k, bool states = false);
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  void draw_offline();

  Terminal& terminal_;
  std::string title_;
  std::size_t top_k_;
  bool states_;
  StatsSnapshot stats_;
  CameraStatus camera_;
  Clock::time_point last_drawn_;
  std::vector<std::string> lines_;
};

// The statistics, one log line an interval and a summary at the end.
class LogReporter : public Reporter {
 public:
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  CameraStatus camera_;
  std::string line_;
};

}  // namespace lookout

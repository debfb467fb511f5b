// A line of a GPIO chip that is active while a state lasts.
#pragma once

#include <string>
#include <vector>

#include "pipeline/core/reporter.h"
#include "platform/gpio/gpio_line.h"
#include "platform/reporters/log_once.h"

namespace lookout {

struct GpioReporterOptions {
  GpioLineOptions line;
  std::vector<std::string> states;  // labels
  std::string watch;                // whose state; empty: that of the run's only one
};

// The line is inactive when the state is unknown or another one, before the first state, while the
// camera or the watch is away, and at the end. After a crash or SIGKILL it may stay as it was. The
// frame loop sets it, when it changes alone. A line that cannot be set is logged once.
class GpioReporter : public Reporter {
 public:
  // Throws as GpioLine.
  explicit GpioReporter(GpioReporterOptions options, GpioCalls calls = system_gpio_calls());

  // Warns of labels that the model does not have.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void status(const CameraStatus& status) override;

 private:
  bool is_ours(const WatchInfoPtr& watch) const;
  void set(bool active);

  const GpioReporterOptions options_;
  GpioLine line_;
  bool active_ = false;
  LogOnce failures_;
};

}  // namespace lookout

// A line of a GPIO chip that is active while a state lasts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/reporter.h"
#include "platform/gpio/gpio_line.h"
#include "platform/reporters/log_once.h"

namespace lookout {

// What became of the line, for other threads.
struct GpioCounters {
  std::atomic<std::uint64_t> changes = 0;  // the line was set
  std::atomic<std::uint64_t> failed = 0;   // it could not be set; of a change several times
  std::atomic<bool> active = false;
  std::atomic<bool> pending = false;  // it is not yet what the state asks for
};

struct GpioReporterOptions {
  GpioLineOptions line;
  std::vector<std::string> states;           // labels
  std::string watch;                         // whose state; empty: that of the run's only one
  std::shared_ptr<GpioCounters> counters{};  // null: nobody looks
};

// The line is inactive when the state is unknown or another one, before the first state, while the
// camera or the watch is away, and at the end. After a crash or SIGKILL it may stay as it was. The
// frame loop sets it, when it changes alone. A line that cannot be set is logged once, until it is
// well again, and set again by poll(): after kFirstDelay, then after twice the delay before.
class GpioReporter : public Reporter {
 public:
  static constexpr std::chrono::seconds kFirstDelay{1};
  static constexpr std::chrono::seconds kMaxDelay{60};

  // Throws as GpioLine.
  explicit GpioReporter(GpioReporterOptions options, GpioCalls calls = system_gpio_calls(),
                        std::function<Clock::time_point()> now = Clock::now);

  // Warns of labels that the model does not have.
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void status(const CameraStatus& status) override;
  void poll() override;

 private:
  bool is_ours(const WatchInfoPtr& watch) const;
  void set(bool active);
  void try_line();

  const GpioReporterOptions options_;
  GpioLine line_;
  const std::function<Clock::time_point()> now_;
  bool active_ = false;
  bool wanted_ = false;
  std::chrono::seconds delay_ = kFirstDelay;
  Clock::time_point not_before_;  // while the line is not what is wanted
  LogOnce oddities_;              // of the options
  LogOnce failures_;
};

}  // namespace lookout

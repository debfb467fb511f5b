#include "platform/gpio/gpio_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

GpioReporterOptions with_counters(GpioReporterOptions options) {
  if (!options.counters) options.counters = std::make_shared<GpioCounters>();
  return options;
}

}  // namespace

GpioReporter::GpioReporter(GpioReporterOptions options, GpioCalls calls,
                           std::function<Clock::time_point()> now)
    : options_(with_counters(std::move(options))),
      line_(options_.line, std::move(calls)),
      now_(std::move(now)) {}

void GpioReporter::watching(const WatchList& watches) {
  const auto ours = std::find_if(watches.begin(), watches.end(),
                                 [this](const Watching& each) { return is_ours(each.watch); });
  if (ours == watches.end()) {
    if (options_.watch.empty()) {
      oddities_.warn("gpio: the line stays inactive: gpio.watch does not say whose state counts");
    }
    return set(false);
  }
  const auto& labels = ours->model->labels;
  for (const std::string& state : options_.states) {
    if (std::find(labels.begin(), labels.end(), state) != labels.end()) continue;
    oddities_.warn(fmt::format("gpio.states: the model {} has no label {}",
                               printable(ours->model->name), printable(state)));
  }
}

void GpioReporter::report(const Result& result, const Frame& /*frame*/) {
  if (!result.state_changed || !is_ours(result.watch)) return;
  const bool is_class = result.state.kind == SceneState::Kind::kClass;
  const std::string_view state = result.state.name();
  set(is_class &&
      std::find(options_.states.begin(), options_.states.end(), state) != options_.states.end());
}

void GpioReporter::status(const CameraStatus& status) {
  if (!status.online) set(false);
}

bool GpioReporter::is_ours(const WatchInfoPtr& watch) const {
  return watch ? watch->name == options_.watch : options_.watch.empty();
}

void GpioReporter::poll() {
  if (wanted_ != active_ && now_() >= not_before_) try_line();
}

void GpioReporter::set(bool active) {
  if (active == wanted_ && active == active_) return;
  if (active != wanted_) delay_ = kFirstDelay;
  wanted_ = active;
  try_line();
}

void GpioReporter::try_line() {
  GpioCounters& counters = *options_.counters;
  const std::string failure = wanted_ == active_ ? "" : line_.set(wanted_);
  counters.pending = !failure.empty();
  if (!failure.empty()) {
    ++counters.failed;
    failures_.warn(fmt::format("gpio: line {} of {} cannot be set: {}; it is tried again",
                               options_.line.line, options_.line.chip, failure));
    not_before_ = now_() + delay_;
    delay_ = std::min(2 * delay_, kMaxDelay);
    return;
  }
  if (wanted_ == active_) return;  // the state changed back before the line could be set
  active_ = wanted_;
  delay_ = kFirstDelay;
  ++counters.changes;
  counters.active = active_;
  if (failures_.worked()) {
    log_info("gpio: line {} of {} can be set again; {} failed", options_.line.line,
             options_.line.chip, counters.failed.load());
  }
}

}  // namespace lookout

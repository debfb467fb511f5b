#include "platform/gpio/gpio_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/printable.h"

namespace lookout {

GpioReporter::GpioReporter(GpioReporterOptions options, GpioCalls calls)
    : options_(std::move(options)), line_(options_.line, std::move(calls)) {}

void GpioReporter::watching(const WatchList& watches) {
  const auto ours = std::find_if(watches.begin(), watches.end(),
                                 [this](const Watching& each) { return is_ours(each.watch); });
  if (ours == watches.end()) {
    if (options_.watch.empty()) {
      failures_.warn("gpio: the line stays inactive: gpio.watch does not say whose state counts");
    }
    return set(false);
  }
  const auto& labels = ours->model->labels;
  for (const std::string& state : options_.states) {
    if (std::find(labels.begin(), labels.end(), state) != labels.end()) continue;
    failures_.warn(fmt::format("gpio.states: the model {} has no label {}",
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

void GpioReporter::set(bool active) {
  if (active == active_) return;
  const std::string failure = line_.set(active);
  if (failure.empty()) {
    active_ = active;
  } else {
    failures_.warn(fmt::format("gpio: line {} of {} cannot be set: {}", options_.line.line,
                               options_.line.chip, failure));
  }
}

}  // namespace lookout

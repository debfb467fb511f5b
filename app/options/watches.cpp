#include "app/options/watches.h"

#include <filesystem>

namespace lookout {
namespace {

template <typename T, typename Given>
void take(const std::optional<Given>& given, T& member) {
  if (given) member = *given;
}

// ./a.pt is a.pt.
bool is_same_file(const std::string& one, const std::string& other) {
  using std::filesystem::path;
  return path(one).lexically_normal() == path(other).lexically_normal();
}

RunOptions options_of(RunOptions options, const WatchOptions& watch) {
  take(watch.roi, options.camera.view.roi);
  ModelOptions& model = options.model;
  if (!watch.model.empty() && !is_same_file(watch.model, model.file)) {
    model.file = watch.model;
    model.labels.clear();
    model.stated = {};
  }
  if (!watch.labels.empty()) model.labels = watch.labels;
  take(watch.every, options.still.at_least_every);
  SceneOptions& state = options.state;
  take(watch.smoothing, state.smoothing);
  take(watch.min_duration, state.min_duration);
  if (watch.enter_threshold) {
    state.enter_threshold = watch.enter_threshold;
    state.leave_threshold.reset();
  }
  take(watch.leave_threshold, state.leave_threshold);
  EventOptions& events = options.events;
  take(watch.on_change, events.on_change);
  take(watch.snapshot_when, events.snapshot_when);
  take(watch.unsure_below, events.unsure_below);
  take(watch.snapshot_cooldown, events.snapshot_cooldown);
  return options;
}

}  // namespace

std::vector<Watch> watches_of(const RunOptions& options) {
  if (options.watches.empty()) return {{"", options}};
  std::vector<Watch> watches;
  for (const WatchOptions& watch : options.watches) {
    watches.push_back({watch.name, options_of(options, watch), watch.title, watch.taught});
  }
  return watches;
}

}  // namespace lookout

#include "app/options/taught_watches.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/system/service.h"
#include "platform/teach/taught_models.h"

namespace lookout {
namespace {

// Why the options have no place for the watch, as the end of a sentence; empty: they have.
std::string why_not(const RunOptions& options, const TaughtRun& run) {
  const bool is_taken =
      std::any_of(options.watches.begin(), options.watches.end(),
                  [&run](const WatchOptions& watch) { return watch.name == run.watch; });
  if (is_taken) return "the configuration has a watch of this name, which is used";
  if (!run.problem.empty()) return fmt::format("{} {}", run.head.string(), run.problem);
  if (options.watches.size() == kMaxWatches) {
    return fmt::format("there are {} watches already", kMaxWatches);
  }
  return {};
}

}  // namespace

std::filesystem::path library_of_service(const std::filesystem::path& config) {
  if (const auto state = state_folder(); !state.empty()) return state / "teach";
  const std::string unit = unit_of_service(config);
  const std::string name = unit.empty() ? "lookout" : std::filesystem::path(unit).stem().string();
  return std::filesystem::path("/var/lib") / name / "teach";
}

std::vector<std::string> add_taught_watches(const std::filesystem::path& library,
                                            RunOptions& options,
                                            std::map<std::string, std::string>& given) {
  std::vector<std::string> notes;
  for (const TaughtRun& run : TaughtModelStore(models_folder_of(library)).in_use()) {
    if (const std::string why = why_not(options, run); !why.empty()) {
      notes.push_back(fmt::format("the taught watch {} is left out: {}", run.watch, why));
      continue;
    }
    WatchOptions& watch = options.watches.emplace_back();
    watch.name = run.watch;
    watch.title = run.title;
    watch.roi = run.roi;
    watch.model = run.head;
    watch.taught = true;
    const std::string section = "watch." + run.watch;
    const cv::Rect2d& roi = run.roi;
    given[section + ".model"] = run.head;
    given[section + ".title"] = run.title;
    given[section + ".roi"] = fmt::format("{},{},{},{}", roi.x, roi.y, roi.width, roi.height);
  }
  return notes;
}

}  // namespace lookout

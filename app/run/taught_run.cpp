#include "app/run/taught_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/model/model_trials.h"
#include "pipeline/core/log.h"
#include "platform/teach/taught_models.h"
#include "platform/teach/taught_trainer.h"

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
  if (options.model.workers > 1) return "several watches need model.workers = 1";
  if (options.camera.source == "none") return "there is no camera";
  return {};
}

}  // namespace

std::filesystem::path teach_folder(const RunOptions& options) {
  const std::filesystem::path folder = options.http.teach ? state_folder() : "";
  return folder.empty() ? folder : folder / "teach";
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

Configuration with_taught_watches(Configuration configuration) {
  const std::filesystem::path folder = teach_folder(configuration.options);
  if (folder.empty()) return configuration;
  for (const std::string& note :
       add_taught_watches(folder, configuration.options, configuration.given)) {
    log_warn("{}", note);
  }
  return configuration;
}

std::shared_ptr<TeachTrainer> make_trainer(const RunOptions& options,
                                           const ReloadRequests& reload) {
  TaughtTrainerOptions trainer;
  trainer.library = teach_folder(options);
  if (trainer.library.empty()) return nullptr;
  trainer.command = {"/proc/self/exe", "train-taught"};
  trainer.preview_command = {"/proc/self/exe", "preview-taught"};
  trainer.base = options.model.base;
  trainer.reload = [&reload] {
    reload.asked = true;
    reload.wake.wake();
  };
  return std::make_shared<TaughtTrainer>(std::move(trainer));
}

}  // namespace lookout

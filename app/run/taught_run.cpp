#include "app/run/taught_run.h"

#include <utility>

#include "app/model/base.h"
#include "app/options/taught_watches.h"
#include "pipeline/core/log.h"
#include "pipeline/run/open_model.h"
#include "platform/system/service.h"
#include "platform/teach/taught_trainer.h"

namespace lookout {
std::filesystem::path teach_folder(const RunOptions& options) {
  const std::filesystem::path folder = options.http.teach ? state_folder() : "";
  return folder.empty() ? folder : folder / "teach";
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
  // Of the run's engine: what is taught is watched beside its models, and a process has one engine.
  const auto engine = engine_in_use();
  trainer.base =
      options.model.base.empty() && engine ? base_file(*engine).string() : options.model.base;
  trainer.reload = [&reload] {
    reload.asked = true;
    reload.wake.wake();
  };
  return std::make_shared<TaughtTrainer>(std::move(trainer));
}

}  // namespace lookout

#include "app/run/taught_run.h"

#include <utility>

#include "app/options/taught_watches.h"
#include "pipeline/core/log.h"
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
  trainer.base = options.model.base;
  trainer.reload = [&reload] {
    reload.asked = true;
    reload.wake.wake();
  };
  return std::make_shared<TaughtTrainer>(std::move(trainer));
}

}  // namespace lookout

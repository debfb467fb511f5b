// What a run has to do with what an owner taught.
#pragma once

#include <filesystem>
#include <memory>

#include "app/options/options.h"
#include "app/run/reload.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// The folder of the TeachLibrary. Empty: nothing can be taught, since http.teach is not set, or the
// process has no state folder.
std::filesystem::path teach_folder(const RunOptions& options);

// With the taught watches; the log says what is left out.
Configuration with_taught_watches(Configuration configuration);

// Trains with this program, and has the run reload when another model is to be used. Null: nothing
// can be taught. `reload` outlives it.
std::shared_ptr<TeachTrainer> make_trainer(const RunOptions& options, const ReloadRequests& reload);

}  // namespace lookout

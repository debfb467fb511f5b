// What a run has to do with what an owner taught.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/run/reload.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// The folder of the TeachLibrary. Empty: nothing can be taught, since http.teach is not set, or the
// process has no state folder.
std::filesystem::path teach_folder(const RunOptions& options);

// Adds a [watch.NAME] for each watch of `library`, the folder of a TeachLibrary, that has a model
// in use, with the region and the title that it was trained with. Those of the configuration come
// first, and win over one of the same name. `given`: as Settings::given(); gets what tells such a
// section from another. Returns sentences for the log, of what is left out: a model that is
// damaged, and a watch that the options have no place for.
std::vector<std::string> add_taught_watches(const std::filesystem::path& library,
                                            RunOptions& options,
                                            std::map<std::string, std::string>& given);

// With the taught watches; the log says what is left out.
Configuration with_taught_watches(Configuration configuration);

// Trains with this program, and has the run reload when another model is to be used. Null: nothing
// can be taught. `reload` outlives it.
std::shared_ptr<TeachTrainer> make_trainer(const RunOptions& options, const ReloadRequests& reload);

}  // namespace lookout

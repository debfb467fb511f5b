// Watches that an owner taught in the browser, as if a configuration had them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/options/options.h"

namespace lookout {

// The folder of the TeachLibrary of the service that has the configuration `config`, an empty one
// that of the first service: in the folder that the environment variable STATE_DIRECTORY names,
// else in /var/lib/NAME. It may be missing.
std::filesystem::path library_of_service(const std::filesystem::path& config);

// Adds a [watch.NAME] for each watch of `library`, the folder of a TeachLibrary, that has a model
// in use, with the region and the title that it was trained with. Those of the configuration come
// first, and win over one of the same name. `given`: as Settings::given(); gets what tells such a
// section from another. Returns sentences for the log, of what is left out: a model that is
// damaged, and a watch that the options have no place for.
std::vector<std::string> add_taught_watches(const std::filesystem::path& library,
                                            RunOptions& options,
                                            std::map<std::string, std::string>& given);

}  // namespace lookout

// The configuration file: TOML with a section for each group of settings.
#pragma once

#include <string>
#include <vector>

#include "app/options/settings.h"

namespace lookout {

// Sets what the file says. Throws Error(kConfig), whose sentence names the file, the line and the
// column, when the file cannot be read, is not TOML, or has a key or a value that no setting has.
// Returns a sentence for each switch of an earlier version that is off and ignored: files with all
// keys have them, and an upgrade must not stop a service.
std::vector<std::string> read_config_file(const std::string& path, Settings& settings);

}  // namespace lookout

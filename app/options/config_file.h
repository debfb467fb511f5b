// The configuration file: TOML with a section for each group of settings.
#pragma once

#include <string>

#include "app/options/settings.h"

namespace lookout {

// Sets what the file says. Throws Error(kConfig), whose sentence names the file, the line and the
// column, when the file cannot be read, is not TOML, or has a key or a value that no setting has.
void read_config_file(const std::string& path, Settings& settings);

}  // namespace lookout

// The configuration file: TOML with a section for each group of settings.
#pragma once

#include <string>
#include <vector>

#include "app/options/settings.h"

namespace lookout {

// Sets what the file says, and after it what its drop-ins say: what is said last is in force.
// Throws Error(kConfig), whose sentence names the file, the line and the column, when a file cannot
// be read, is not TOML, or has a key or a value that no setting has, and Error(kPermission) for a
// file or folder that may not be read.
void read_config_file(const std::string& path, Settings& settings);

// The drop-ins of a file NAME.toml: the files of the folder NAME.conf.d beside it, of lookout.toml
// conf.d, whose names end in .toml, in the order of their names (strcmp(3)). None without that
// folder. Throws Error for one that cannot be read.
std::vector<std::string> drop_ins_of(const std::string& config);

}  // namespace lookout

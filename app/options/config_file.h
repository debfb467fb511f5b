// The configuration file: TOML, a key for each option of `run`, no sections.
#pragma once

#include <string>
#include <vector>

namespace lookout {

struct Setting {
  std::string key;
  std::string value;  // as it would be typed on the command line; empty: as if it were not there
};

// What the file says, in its order. A list of numbers becomes "2,3". Throws Error(kConfig), with
// the path, when the file cannot be read or has something else than keys with one value each.
std::vector<Setting> read_config_file(const std::string& path);

}  // namespace lookout

// Files that the user names for what was found.
#pragma once

#include <string>

namespace lookout {

// Before the work whose result goes there. An absent file is made. Both throw Error(kOutput).
void check_writable(const std::string& path);
// In place of what is there.
void write_file(const std::string& path, const std::string& text);

}  // namespace lookout

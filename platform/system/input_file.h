// Files that the user names, to be read.
#pragma once

#include <fstream>
#include <string>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {

// "trace a.json cannot be read: No such file or directory", of kind kPermission or kNoInput.
Error cannot_read(const std::string& what, const std::error_code& reason);

// Opens a file. `what` it holds is for errors: "trace". Throws the above.
std::ifstream open_input(const std::string& what, const std::string& path);

// All that is in it. Throws likewise.
std::string read_input(const std::string& what, const std::string& path);

}  // namespace lookout

// Files that the user names, to be read.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {

// "trace a.json cannot be read: No such file or directory", of kind kPermission or kNoInput.
Error cannot_read(const std::string& what, const std::error_code& reason);

// Opens a file and calls `read` with it. `what` it holds is for errors: "trace". Throws
// cannot_read() when the file cannot be opened, or when reading it fails later; otherwise what
// `read` throws.
void read_input(const std::string& what, const std::string& path,
                const std::function<void(std::istream&)>& read);

// The content of a file. Throws likewise.
std::string read_input(const std::string& what, const std::string& path);

}  // namespace lookout

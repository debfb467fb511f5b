// Reads files that the user names.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {

// "trace a.json cannot be read: No such file or directory", of kind kPermission or kNoInput.
Error cannot_read(const std::string& what, const std::error_code& reason);

// Opens a file and calls `read` with it. `what` names its content in errors: "trace". Throws
// cannot_read() when the file cannot be opened or read, and the errors of `read`.
void read_input(const std::string& what, const std::string& path,
                const std::function<void(std::istream&)>& read);

// Returns the content of a file. Throws as above.
std::string read_input(const std::string& what, const std::string& path);

// The same for a password, a token or a key: warns, once for each file, when other users can read
// it. A group may, when root gave it the file. Not for systemd's credentials and for descriptors
// (/dev/fd/3), which nobody else opens by their names. Any thread.
std::string read_secret(const std::string& what, const std::string& path);

}  // namespace lookout

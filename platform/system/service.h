// Whether the program is a service, and what it loads then.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Whether a service manager started the program (NOTIFY_SOCKET is set).
bool is_service();

// Throws Error(kPermission), whose sentence begins with `what` and the path, unless the file and
// each folder that it is in belong to root and nobody else may write to them, and it lies in one of
// the folders for libraries: a library is code, and the service's configuration only names it.
// `path` is absolute, without links.
void check_library_of_service(const std::string& what, const std::filesystem::path& path);

// The reason why a file is not to be trusted, in words that follow its path: "may be written by
// others than root". Empty: it is trusted.
std::string reason_to_distrust(const std::filesystem::path& path);

}  // namespace lookout

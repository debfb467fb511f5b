// Parts of lookout that are apart from the program, so that it starts without the libraries they
// need.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Where the part `name` lies: in ../lib/lookout, seen from the program, installed or not.
std::filesystem::path module_path(const std::string& name);

// Loads the library `name`, which stays loaded, and returns its function `entry`. Throws
// Error(kNoInput) when it was not built or one of the libraries that it needs is missing or of
// another version.
void* load_module(const std::string& name, const std::string& entry);

}  // namespace lookout

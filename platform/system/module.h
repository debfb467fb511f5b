// Modules: parts of lookout in files of their own, so that the program starts without the libraries
// that they need.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// The path of the module `name`: in ../lib/lookout relative to the program, installed or not.
std::filesystem::path module_path(const std::string& name);

// Loads the module `name`, which stays loaded, and returns its function `entry`. Throws
// Error(kUnsupported) when it was not built, or when a library that it needs is missing or has
// another version.
void* load_module(const std::string& name, const std::string& entry);

}  // namespace lookout

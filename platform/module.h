// Parts of lookout that are apart from the program, so that it starts without the libraries they
// need.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Where the part `name` lies: in ../lib/lookout, seen from the program, installed or not.
std::filesystem::path module_path(const std::string& name);

}  // namespace lookout

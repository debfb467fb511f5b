// The SHA-256 of a file.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Hexadecimal, lower case. Throws Error(kNoInput) or Error(kPermission) when the file cannot be
// read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace lookout

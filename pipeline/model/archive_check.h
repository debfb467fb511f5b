// Finds damage in a model archive, which is a ZIP file.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Compares every member of the archive with its checksum. LibTorch does not check them: flipped
// bits change weights unnoticed or crash it. Returns the damage in words that follow "the archive",
// or an empty text.
std::string find_damage(const std::filesystem::path& archive);

}  // namespace lookout

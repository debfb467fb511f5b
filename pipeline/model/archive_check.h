// Whether a model archive, which is a ZIP file, still holds what was once written into it.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Reads every member of the archive and compares it with its checksum, which LibTorch does not look
// at: it takes flipped bits in weights for weights, and may crash over others. Returns what is
// wrong, in words that follow "the archive", or an empty text. Only damage is found: a checksum
// says nothing about whether what was written was right.
std::string find_damage(const std::filesystem::path& archive);

}  // namespace lookout

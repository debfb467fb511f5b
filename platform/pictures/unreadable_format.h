// Picture formats that are known but cannot be read here.
#pragma once

#include <optional>
#include <string>

namespace lookout {

// The end of a sentence when the file, which could not be read as a picture, is HEIC, AVIF or an
// animated WebP: "is a HEIC picture, which is not supported; ...". Empty for others.
std::optional<std::string> unreadable_format(const std::string& path);

}  // namespace lookout

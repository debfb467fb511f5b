// The SHA-256 of a text.
#pragma once

#include <string>
#include <string_view>

namespace lookout {

// Hexadecimal, lower case.
std::string sha256(std::string_view bytes);

}  // namespace lookout

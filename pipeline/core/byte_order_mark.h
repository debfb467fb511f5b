// The byte order mark that some editors write before a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace lookout {

// Bytes of the UTF-8 byte order mark that `text` begins with: 3 or 0.
inline std::size_t byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.substr(0, kMark.size()) == kMark ? kMark.size() : 0;
}

}  // namespace lookout

// Parts of texts.
#pragma once

#include <string_view>

namespace lookout {

inline bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

inline bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The text without such characters at its start and its end: a part of it.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const auto start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

}  // namespace lookout

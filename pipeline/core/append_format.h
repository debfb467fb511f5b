// Formatted text at the end of a string. fmt::format_to() is compiled anew in every file that calls
// it, which takes longer than most files do; this is compiled once.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace lookout {

void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args);

// As fmt::format(): append_format(out, "{} of {}", 1, 2). A string that is used again is not
// allocated again.
template <typename... Args>
void append_format(std::string& out, fmt::format_string<Args...> format, const Args&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

// The elements of a list as one text: joined(list, ", ") is "a, b".
template <typename List>
std::string joined(const List& list, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& element : list) {
    append_format(text, "{}{}", first ? std::string_view() : separator, element);
    first = false;
  }
  return text;
}

}  // namespace lookout

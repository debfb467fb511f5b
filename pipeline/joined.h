// The elements of a list as one text: joined({"a", "b"}, ", ") is "a, b". As fmt::join(), whose
// code is compiled anew in every file.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/append_format.h"

namespace lookout {

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

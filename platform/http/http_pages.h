// The files of the page, which are part of the program.
#pragma once

#include <string>
#include <string_view>

namespace lookout {

struct HttpPage {
  const char* path;  // "/page.css"
  const char* type;  // the media type
  std::string_view content;
};

// Null when there is none of this path.
const HttpPage* find_page(std::string_view path);

}  // namespace lookout

// Pictures in a report; see html.h.
#pragma once

#include <string>

namespace lookout {

// A small picture of a file as a `data:` URI. Empty when it cannot be read any more.
std::string thumbnail_of(const std::string& path);

// A picture with what it was taken for.
struct PictureEntry {
  std::string file;       // path
  std::string thumbnail;  // as thumbnail_of(); empty: the picture is only named
  std::string label;
  double score = 0;  // 0..1
};

// One element of a list with the class "pictures".
std::string picture_html(const PictureEntry& picture);

}  // namespace lookout

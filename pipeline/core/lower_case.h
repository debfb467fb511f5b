// Texts without regard to case. ASCII alone: extensions, schemes and hexadecimal digits.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

namespace lookout {

inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// ".jpg" of "IMG_1.JPG"; empty: the name has none.
inline std::string lower_case_extension(const std::string& path) {
  return lower_case(std::filesystem::path(path).extension().string());
}

}  // namespace lookout

// Forms with files: multipart/form-data (RFC 7578, RFC 2046). Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

struct FormPart {
  static constexpr std::size_t kMax = 32;             // of a form
  static constexpr std::size_t kMaxHeaderLines = 16;  // of a part
  static constexpr std::size_t kMaxHeader = 4096;     // bytes

  std::string name;
  std::optional<std::string> filename;
  std::string_view content;  // within the body
};

// The parameter `boundary` of a Content-Type, which has 1 to 70 characters. Empty: this is no
// multipart/form-data, or it has no such boundary.
std::optional<std::string> boundary_of(std::string_view content_type);

// The parts in their order. Empty: the body is malformed, cut, or beyond a limit above.
std::optional<std::vector<FormPart>> parse_multipart(std::string_view body,
                                                     std::string_view boundary);

}  // namespace lookout

#include "platform/system/percent_encoding.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

namespace lookout {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  constexpr int kHexadecimal = 16;
  constexpr std::size_t kDigits = 2;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned int byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool escape =
        text[i] == '%' && i + kDigits < text.size() &&
        std::from_chars(digits, digits + kDigits, byte, kHexadecimal).ptr == digits + kDigits;
    plain += escape ? static_cast<char>(byte) : text[i];
    if (escape) i += kDigits;
  }
  return plain;
}

}  // namespace lookout

// Text to numbers, independent of the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace lookout {

// The number that `text` begins with; empty when it begins with none or the number does not fit.
// `base`: of an integer, 10 when it is not given.
template <typename Number, typename... Base>
std::optional<Number> parse_leading_number(std::string_view text, Base... base) {
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// The number that the whole `text` is; empty when it is none or does not fit.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace lookout

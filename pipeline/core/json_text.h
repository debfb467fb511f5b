// JSON as text. nlohmann's parser and writer take seconds to compile, so they are compiled here
// alone.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lookout {

// Levels of arrays and objects within each other. The library copies, compares and writes a value
// by recursion, so a deep one overflows the stack. Nothing that is read has more than 8.
inline constexpr int kMaxJsonDepth = 16;

// The value of a whole text, which may come from anybody. Discarded (is_discarded()) when the text
// is not JSON or is nested deeper than kMaxJsonDepth; `too_deep` is set when it is the latter.
nlohmann::json parse_json(std::string_view text);
nlohmann::json parse_json(std::string_view text, bool& too_deep);
// The same, with the keys of objects in the text's order.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

// Calls `use` with each element of an array, as soon as it is read: only one is in memory. Returns
// false when the rest is not JSON, the whole is no array, or something in it is nested deeper than
// kMaxJsonDepth. Throws what `use` throws.
bool for_each_element(std::istream& text, const std::function<void(const nlohmann::json&)>& use);

// On one line, or indented by so many spaces. Bytes that are not UTF-8 become U+FFFD. No newline at
// the end.
std::string to_text(const nlohmann::json& json);
std::string to_text(const nlohmann::ordered_json& json, int indent = -1);

// A JSON string with its quotes. Bytes that are not UTF-8, which file names may have, become
// U+FFFD.
std::string to_json(const std::string& text);

}  // namespace lookout

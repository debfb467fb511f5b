// JSON as text. nlohmann's parser and writer take seconds to compile, so they are compiled here
// alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lookout {

// The value of a whole text; a discarded value (is_discarded()) when the text is not JSON.
nlohmann::json parse_json(std::string_view text);

// The same. A value that is nested deeper than `max_depth` is left out, and `too_deep` is set.
nlohmann::json parse_json(std::string_view text, int max_depth, bool& too_deep);

// On one line, or indented by so many spaces. Bytes that are not UTF-8 become U+FFFD. No newline at
// the end.
std::string to_text(const nlohmann::json& json);
std::string to_text(const nlohmann::ordered_json& json, int indent = -1);

// A JSON string with its quotes. Bytes that are not UTF-8, which file names may have, become
// U+FFFD.
std::string to_json(const std::string& text);

}  // namespace lookout

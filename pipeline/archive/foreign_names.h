// Names of classes in the words of other programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// The value of a text that is JSON, or a literal as Python's str() writes it: {0: 'tench', 1:
// "it's"}, (64, 64). Keys become texts, tuples arrays. Discarded (is_discarded()) when it is
// neither, or is nested deeper than kMaxJsonDepth.
nlohmann::json parse_literal(std::string_view text);

// The names of the classes 0, 1, 2, ...: those of a list, of an object like {"0": "tench"}, or of
// one like {"tench": 0}; or of an object that has one of these under a usual key, such as "names",
// "id2label" or "class_to_idx". A name is a text, a number, or a pair of an identifier and a name.
// Throws std::runtime_error, whose text completes "the labels ...", when it is none of these, when
// a number is missing, or when a name cannot be a label.
std::vector<std::string> names_of(const nlohmann::json& value);

}  // namespace lookout

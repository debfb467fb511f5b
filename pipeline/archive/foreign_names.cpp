#include "pipeline/archive/foreign_names.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "pipeline/archive/metadata.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/model_spec.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail_names(const std::string& what) { throw std::runtime_error(what); }

// Rewrites a Python literal as JSON. What is no literal becomes no JSON either.
class PythonLiteral {
 public:
  explicit PythonLiteral(std::string_view text) : left_(text) {}

  std::string as_json() {
    while (!next().empty()) take_token();
    return std::move(json_);
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n";
  static constexpr std::string_view kWord =
      "+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

  // What is left, without blanks before it.
  std::string_view next() {
    left_.remove_prefix(std::min(left_.find_first_not_of(kBlanks), left_.size()));
    return left_;
  }

  void take_token() {
    const char c = left_.front();
    if (c == '\'' || c == '"') {
      json_ += to_json(take_text());
    } else if (kWord.find(c) != std::string_view::npos) {
      take_word();
    } else {
      left_.remove_prefix(1);
      take_mark(c);
    }
  }

  void take_mark(char mark) {
    const char after = next().empty() ? '\0' : left_.front();
    const bool closes = after == '}' || after == ']' || after == ')';
    if (mark == ',' && closes) return;  // (64,)
    json_ += mark == '(' ? '[' : mark == ')' ? ']' : mark;
  }

  void take_word() {
    const std::string_view word = left_.substr(0, left_.find_first_not_of(kWord));
    left_.remove_prefix(word.size());
    static const std::map<std::string_view, const char*> constants{
        {"True", "true"}, {"False", "false"}, {"None", "null"}};
    const auto constant = constants.find(word);
    const bool is_key = !next().empty() && left_.front() == ':';
    const std::string text(constant == constants.end() ? word : constant->second);
    json_ += (is_key ? to_json(text) : text) + ' ';
  }

  std::string take_text() {
    const char quote = left_.front();
    left_.remove_prefix(1);
    std::string text;
    while (!left_.empty() && left_.front() != quote) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '\\') {
        take_escape(text);
      } else {
        text += c;
      }
    }
    if (left_.empty()) json_ += '?';  // the text does not end
    left_.remove_prefix(std::min<std::size_t>(1, left_.size()));
    return text;
  }

  // Behind a backslash.
  void take_escape(std::string& text) {
    if (left_.empty()) return;
    const char kind = left_.front();
    left_.remove_prefix(1);
    static const std::map<char, char> characters{{'n', '\n'},  {'t', '\t'}, {'r', '\r'},
                                                 {'\'', '\''}, {'"', '"'},  {'\\', '\\'}};
    static const std::map<char, std::size_t> digits{{'x', 2}, {'u', 4}, {'U', 8}};
    if (const auto character = characters.find(kind); character != characters.end()) {
      text += character->second;
    } else if (const auto count = digits.find(kind); count != digits.end()) {
      take_character(count->second, text);
    } else {
      text += '\\';
      text += kind;
    }
  }

  // By its hexadecimal number.
  void take_character(std::size_t digits, std::string& text) {
    constexpr std::uint32_t kLast = 0x10FFFF;
    std::uint32_t number = 0;
    const std::string_view hex = left_.substr(0, digits);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
    const bool whole = hex.size() == digits && error == std::errc() && end == hex.data() + digits;
    if (!whole || number > kLast) {
      json_ += '?';
      return;
    }
    left_.remove_prefix(digits);
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(number), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }

  std::string_view left_;
  std::string json_;
};

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

std::string name_in(const Json& value, std::size_t number) {
  if (value.is_array() && value.size() == 2 && value[1].is_string()) return value[1];
  if (value.is_string()) return value;
  if (value.is_number()) return to_text(value);
  fail_names(fmt::format("have no name for number {}", number));
}

// `value_of`: what belongs to an element's number, of which each of 0 to `elements.size()` - 1 is
// needed.
template <typename NumberOf, typename NameOf>
std::vector<std::string> sorted_names(const Json& object, NumberOf number_of, NameOf name_of) {
  std::map<std::size_t, std::string> names;
  for (const auto& [key, value] : object.items()) {
    const std::size_t number = number_of(key, value);
    names.emplace(number, name_of(key, value, number));
  }
  std::vector<std::string> sorted;
  for (auto& [number, name] : names) {
    if (number != sorted.size()) break;
    sorted.push_back(std::move(name));
  }
  if (sorted.size() == object.size()) return sorted;
  fail_names(fmt::format("have no number {}, though they are {}: each of 0 to {} is needed",
                         sorted.size(), object.size(), object.size() - 1));
}

// Whether an object whose keys and values are numbers is one of names and their numbers, as
// torchvision's folders and Keras write it: names that are numbers are counted in the order of
// texts there, "10" before "2". Else it is one of numbers and their names.
bool counts_values(const Json& object) {
  std::map<std::string, std::size_t> by_name;
  std::set<std::size_t> keys;
  std::set<std::size_t> values;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_number_unsigned()) return false;
    by_name[key] = value.get<std::size_t>();
    keys.insert(*number_in(key));
    values.insert(by_name[key]);
  }
  const auto is_count = [&object](const std::set<std::size_t>& numbers) {
    return numbers.size() == object.size() && *numbers.rbegin() + 1 == object.size();
  };
  if (object.empty() || !is_count(values)) return false;
  if (!is_count(keys)) return true;
  std::size_t place = 0;
  bool in_order = true;
  bool is_same = true;  // either way
  for (const auto& [name, number] : by_name) {
    in_order = in_order && number == place++;
    const auto inverse = by_name.find(std::to_string(number));
    is_same = is_same && inverse != by_name.end() && inverse->second == *number_in(name);
  }
  if (in_order || is_same) return in_order;
  fail_names(
      "are numbers with numbers, of which either could be the names: give the names one a line");
}

std::vector<std::string> names_in_object(const Json& object) {
  const auto items = object.items();
  const bool by_number = std::all_of(items.begin(), items.end(), [](const auto& item) {
    return number_in(item.key()).has_value();
  });
  if (by_number && !counts_values(object)) {
    return sorted_names(
        object, [](const std::string& key, const Json&) { return *number_in(key); },
        [](const std::string&, const Json& value, std::size_t number) {
          return name_in(value, number);
        });
  }
  if (!std::all_of(object.begin(), object.end(),
                   [](const Json& value) { return value.is_number_unsigned(); })) {
    fail_names("are no list of names, and no map of numbers and names");
  }
  return sorted_names(
      object, [](const std::string&, const Json& value) { return value.get<std::size_t>(); },
      [](const std::string& key, const Json&, std::size_t) { return key; });
}

// What the object holds under a usual key; null: nothing. Those of torchvision's folders, timm,
// TorchServe, Transformers, Teachable Machine and Ultralytics.
const Json* usual_member(const Json& object) {
  for (const char* key : {"names", "labels", "label_names", "id2label", "index_to_name",
                          "class_names", "classes", "class_to_idx"}) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_structured()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> names_in(const Json& value) {
  std::vector<std::string> names;
  if (value.is_array()) {
    for (const Json& element : value) names.push_back(name_in(element, names.size()));
  } else if (value.is_object() && !value.empty()) {
    names = names_in_object(value);
  }
  if (names.empty()) fail_names("are no list of names, and no map of numbers and names");
  return names;
}

// timm names ImageNet's classes by their identifiers, and has what they are beside it.
void describe_names(const Json& object, std::vector<std::string>& names) {
  const auto descriptions = object.find("label_descriptions");
  if (descriptions == object.end() || !descriptions->is_object()) return;
  for (std::string& name : names) {
    const auto found = descriptions->find(name);
    if (found != descriptions->end() && found->is_string()) name = *found;
  }
}

}  // namespace

Json parse_literal(std::string_view text) {
  Json value = parse_json(text);
  if (value.is_discarded()) value = parse_json(PythonLiteral(text).as_json());
  return value;
}

std::vector<std::string> names_of(const Json& value) {
  const Json* member = value.is_object() ? usual_member(value) : nullptr;
  std::vector<std::string> names = names_in(member == nullptr ? value : *member);
  if (member != nullptr) describe_names(value, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string problem = problem_of_label(names[i]);
    if (!problem.empty()) fail_names(fmt::format("have a name for number {} that {}", i, problem));
  }
  return names;
}

}  // namespace lookout

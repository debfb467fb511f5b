#include "app/options/toml_node.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "app/options/toml_guard.h"
#include "pipeline/core/byte_order_mark.h"

// toml++ 3.3 has assertions that inputs can break, as "[" at a line's end does. Where NDEBUG is
// defined it takes them for granted instead, which is undefined behaviour. Here they are checked.
namespace {
struct BrokenAssertion {};
[[noreturn]] void break_assertion() { throw BrokenAssertion(); }
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : break_assertion())
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace lookout {
namespace {

template <typename Date>
std::string to_text(const Date& date) {
  std::ostringstream text;
  text << date;
  return text.str();
}

TomlNode converted(const toml::node& node);

TomlNode leaf(const toml::node& node) {
  TomlNode result;
  if (const auto* string = node.as_string()) {
    result.type = TomlType::kString;
    result.text = string->get();
  } else if (const auto* integer = node.as_integer()) {
    result.type = TomlType::kInteger;
    result.text = std::to_string(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    result.type = TomlType::kFloat;
    result.text = fmt::format("{}", number->get());
  } else if (const auto* boolean = node.as_boolean()) {
    result.type = TomlType::kBoolean;
    result.text = boolean->get() ? "true" : "false";
  } else {
    result.type = TomlType::kDate;
    if (const auto* date = node.as_date()) result.text = to_text(date->get());
    if (const auto* time = node.as_time()) result.text = to_text(time->get());
    if (const auto* both = node.as_date_time()) result.text = to_text(both->get());
  }
  return result;
}

// Depth is bounded: by the library for values in values, by guard_toml() for keys.
TomlNode converted(const toml::node& node) {
  TomlNode result;
  if (const auto* table = node.as_table()) {
    for (const auto& [key, member] : *table) {
      result.members.emplace_back(std::string(key.str()), converted(member));
    }
  } else if (const auto* array = node.as_array()) {
    result.type = TomlType::kArray;
    for (const auto& element : *array) result.elements.push_back(converted(element));
  } else {
    result = leaf(node);
  }
  result.line = static_cast<int>(node.source().begin.line);
  result.column = static_cast<int>(node.source().begin.column);
  return result;
}

bool breaks_assertion(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {
  } catch (const BrokenAssertion&) {
    return true;
  }
  return false;
}

// Where the parser broke. It reads forward only: the shortest text that breaks it ends there.
TomlError broken(std::string_view text) {
  std::size_t unbroken = 0;
  std::size_t broken = text.size();
  while (broken - unbroken > 1) {
    const std::size_t middle = unbroken + (broken - unbroken) / 2;
    (breaks_assertion(text.substr(0, middle)) ? broken : unbroken) = middle;
  }
  int line = 1;
  int column = 1;
  for (std::size_t i = 0; i < unbroken; ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80;
    line += text[i] == '\n' ? 1 : 0;
    column = text[i] == '\n' ? 1 : column + (continues ? 0 : 1);
  }
  return {line, column, "this is not TOML"};
}

}  // namespace

std::string to_text(TomlType type) {
  switch (type) {
    case TomlType::kTable:
      return "a table";
    case TomlType::kArray:
      return "an array";
    case TomlType::kString:
      return "a string";
    case TomlType::kInteger:
      return "an integer";
    case TomlType::kFloat:
      return "a float";
    case TomlType::kBoolean:
      return "a boolean";
    case TomlType::kDate:
      return "a date";
  }
  return {};
}

TomlNode parse_toml(const std::string& text) {
  const std::string guarded = guard_toml(text.substr(byte_order_mark(text)));
  try {
    return converted(toml::parse(guarded));
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    throw TomlError(static_cast<int>(at.line), static_cast<int>(at.column),
                    std::string(error.description()));
  } catch (const BrokenAssertion&) {
    throw broken(guarded);
  }
}

}  // namespace lookout

#include "app/options/toml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "pipeline/core/append_format.h"
#include "pipeline/core/byte_order_mark.h"
#include "pipeline/core/printable.h"

// toml++ stays, though it needs a guard: toml11 3.7.1 of Debian 12 reads beyond its buffer for
// a = '\xff', and 4.4 of Debian 13 has another interface, adds 160 KB and takes three times as long
// to compile. The guard has three parts:
// - toml++ 3.3 must not see a byte outside ASCII where it looks for blanks: see to_ascii();
// - it frees a tree by recursion: see check();
// - some texts break its assertions, as "[" at a line's end does. Where NDEBUG is defined it takes
//   them for granted, which is undefined behaviour. Here they are checked.
// tests/tools/toml_test.py compares the outcome with Python's tomllib.
namespace {
struct BrokenAssertion {};
[[noreturn]] void break_assertion() { throw BrokenAssertion(); }
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : break_assertion())
#define TOML_MAX_NESTED_VALUES 32
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace lookout {
namespace {

constexpr std::size_t kMaxBytes = 256 << 10;
constexpr int kMaxKeyParts = 200;  // a table each, one in the other
// In TOML this character stands in strings and comments alone, as those outside ASCII do.
constexpr char kMark = '`';

// Writes each byte outside ASCII, and the mark itself, as the mark and two hexadecimal digits.
std::string to_ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != kMark) {
      ascii += c;
    } else {
      append_format(ascii, "{}{:02x}", kMark, byte);
    }
  }
  return ascii;
}

// `ascii` may end within a mark and its digits, which are left out then.
std::string from_ascii(std::string_view ascii) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string text;
  for (std::size_t i = 0; i < ascii.size(); ++i) {
    if (ascii[i] != kMark) {
      text += ascii[i];
    } else if (i + 2 < ascii.size()) {
      text += static_cast<char>(digit(ascii[i + 1]) * 16 + digit(ascii[i + 2]));
      i += 2;
    } else {
      break;
    }
  }
  return text;
}

int column_after(std::string_view text) {
  return 1 + static_cast<int>(std::count_if(text.begin(), text.end(), [](unsigned char c) {
           return (c & 0xC0U) != 0x80;  // continues no character
         }));
}

// `at`: a byte of the text.
TomlError error_at(std::string_view text, std::size_t at, const std::string& what) {
  const std::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return {static_cast<int>(lines) + 1, column_after(before.substr(before.rfind('\n') + 1)), what};
}

// Refuses what to_ascii() cannot write, and what would need a deep stack. The parts of a key are
// counted from one character that ends keys to the next, also in strings and comments.
void check(std::string_view text) {
  if (text.size() > kMaxBytes) {
    throw TomlError(1, 1, fmt::format("the file is larger than {} KB", kMaxBytes >> 10U));
  }
  for (const char* escape : {"\\u0060", "\\U00000060"}) {
    const auto at = text.find(escape);
    if (at != text.npos) throw error_at(text, at, fmt::format("{} needs no escape", kMark));
  }
  int parts = 1;
  for (std::size_t i = 0, size = 0; i < text.size(); i += size) {
    const auto first = static_cast<unsigned char>(text[i]);
    size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (!is_utf8(text.substr(i, size))) throw error_at(text, i, "this is not UTF-8");
    if (std::string_view("=,[]{}\n").find(text[i]) != std::string_view::npos) parts = 1;
    if (text[i] == '.' && ++parts > kMaxKeyParts) {
      throw error_at(text, i, fmt::format("a key of more than {} parts", kMaxKeyParts));
    }
  }
}

// What follows a place in `ascii`, and, by `column`, the place's column in the text.
std::string_view find_place(std::string_view ascii, toml::source_position at, int& column) {
  for (auto line = at.line; line > 1; --line) ascii.remove_prefix(ascii.find('\n') + 1);
  const std::size_t before = std::min<std::size_t>(at.column - 1, ascii.size());
  column = column_after(from_ascii(ascii.substr(0, before)));
  return ascii.substr(before);
}

std::string text_of(const toml::node& node) {
  if (const auto* string = node.as_string()) return from_ascii(string->get());
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return "";
}

// The depth is bounded: by the library for values in values, by check() for keys.
TomlNode converted(const toml::node& node, std::string_view ascii) {
  // In the order of toml::node_type, which begins with none.
  constexpr TomlType kTypes[] = {
      TomlType::kTable, TomlType::kTable,   TomlType::kArray, TomlType::kString, TomlType::kInteger,
      TomlType::kFloat, TomlType::kBoolean, TomlType::kDate,  TomlType::kDate,   TomlType::kDate};
  TomlNode result;
  result.type = kTypes[static_cast<std::size_t>(node.type())];
  result.text = text_of(node);
  if (const auto* table = node.as_table()) {
    for (const auto& [key, member] : *table) {
      result.members.emplace_back(from_ascii(key.str()), converted(member, ascii));
    }
  } else if (const auto* array = node.as_array()) {
    for (const auto& element : *array) result.elements.push_back(converted(element, ascii));
  }
  result.line = static_cast<int>(node.source().begin.line);
  find_place(ascii, node.source().begin, result.column);
  return result;
}

bool breaks_assertion(std::string_view ascii) {
  try {
    static_cast<void>(toml::parse(ascii));
  } catch (const toml::parse_error&) {
  } catch (const BrokenAssertion&) {
    return true;
  }
  return false;
}

// The parser reads forward only: the shortest text that breaks it ends where it broke.
TomlError broken(std::string_view ascii) {
  std::size_t unbroken = 0;
  for (std::size_t broken = ascii.size(); broken - unbroken > 1;) {
    const std::size_t middle = unbroken + (broken - unbroken) / 2;
    (breaks_assertion(ascii.substr(0, middle)) ? broken : unbroken) = middle;
  }
  const std::string text = from_ascii(ascii.substr(0, unbroken));
  return error_at(text, text.size(), "this is not TOML");
}

}  // namespace

std::string to_text(TomlType type) {
  constexpr const char* kNames[] = {"a table", "an array",  "a string", "an integer",
                                    "a float", "a boolean", "a date"};
  return kNames[static_cast<std::size_t>(type)];
}

TomlNode parse_toml(const std::string& text) {
  std::string_view content = text;
  content.remove_prefix(byte_order_mark(text));
  check(content);
  const std::string ascii = to_ascii(content);
  try {
    return converted(toml::parse(ascii), ascii);
  } catch (const toml::parse_error& error) {
    int column = 1;
    const auto& at = error.source().begin;
    const std::string_view rest = find_place(ascii, at, column);
    std::string what(error.description());
    if (rest.size() > 1 && rest[0] == kMark && rest[1] >= '8') {  // not the mark itself
      what = what.find("escape") != what.npos
                 ? "there is no such escape"
                 : "a character outside ASCII has to stand in quotes or in a comment";
    }
    throw TomlError(static_cast<int>(at.line), column, what);
  } catch (const BrokenAssertion&) {
    throw broken(ascii);
  }
}

}  // namespace lookout

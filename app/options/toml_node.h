// A TOML 1.0 document as a tree.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lookout {

enum class TomlType { kTable, kArray, kString, kInteger, kFloat, kBoolean, kDate };

struct TomlNode {
  TomlType type = TomlType::kTable;
  // A string's characters (UTF-8); a number in decimal, "inf" or "nan"; "true" or "false". Empty
  // for a table, an array or a date.
  std::string text;
  std::vector<std::pair<std::string, TomlNode>> members;  // of a table, in no particular order
  std::vector<TomlNode> elements;                         // of an array
  // Where the value begins, from 1, in lines and characters. A table that no header names: where
  // its first key begins.
  int line = 1;
  int column = 1;
};

// "a string", "an array", ...
std::string to_text(TomlType type);

struct TomlError : std::runtime_error {
  TomlError(int at_line, int at_column, const std::string& what)
      : std::runtime_error(what), line(at_line), column(at_column) {}

  int line;
  int column;
};

// Returns the document's root table. A UTF-8 byte order mark in front is skipped. Throws TomlError
// for a text that is not TOML 1.0, or is larger or more deeply nested than any configuration.
TomlNode parse_toml(const std::string& text);

}  // namespace lookout

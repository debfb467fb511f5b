// Prints a TOML document as lookout reads it, in JSON, for toml_test.py:
//
//   toml_dump    reads paths from stdin, and prints a line for each: its value, or why it is
//   refused
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/options/toml_node.h"

namespace {

using lookout::TomlType;

nlohmann::json to_json(const lookout::TomlNode& node) {
  if (node.type == TomlType::kTable) {
    auto table = nlohmann::json::object();
    for (const auto& [key, member] : node.members) table[key] = to_json(member);
    return table;
  }
  auto elements = nlohmann::json::array();
  for (const auto& element : node.elements) elements.push_back(to_json(element));
  if (node.type == TomlType::kArray) return elements;
  return nlohmann::json{{"type", lookout::to_text(node.type)}, {"text", node.text}};
}

}  // namespace

int main() {
  for (std::string path; std::getline(std::cin, path);) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
      std::cout << nlohmann::json{{"value", to_json(lookout::parse_toml(text))}} << '\n';
    } catch (const lookout::TomlError& error) {
      std::cout << nlohmann::json{{"line", error.line},
                                  {"column", error.column},
                                  {"error", std::string(error.what())}}
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                << '\n';
    }
  }
}

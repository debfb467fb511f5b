#include "app/options/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

std::string read_text(const std::string& path) {
  try {
    return read_input("configuration", path);
  } catch (const Error& error) {
    // What a right of the user's would mend is no mistake in the file.
    const bool is_right = error.kind() == ErrorKind::kPermission;
    throw Error(is_right ? error.kind() : ErrorKind::kConfig, error.what());
  }
}

std::string_view without_blanks(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(" \t\r"), text.size());
  const auto last = text.find_last_not_of(" \t\r");
  return text.substr(first, last == text.npos ? 0 : last + 1 - first);
}

// For the usual mistake in a line, a text without quotes: `a text needs quotes: name = "front"`.
// Empty for others.
std::string missing_quotes(std::string_view text, int number) {
  for (int i = 1; i < number; ++i) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  const std::string_view line = text.substr(0, text.find_first_of("#\n"));
  const auto equals = line.find('=');
  if (equals == line.npos || without_blanks(line.substr(0, equals)).empty()) return "";
  const std::string_view value = without_blanks(line.substr(equals + 1));
  const bool has_letters = std::any_of(
      value.begin(), value.end(), [](unsigned char c) { return std::isalpha(c) != 0 || c == '/'; });
  if (!has_letters || value.find_first_of("\"'[{\\") != value.npos) return "";
  return fmt::format("a text needs quotes: {} = \"{}\"", without_blanks(line.substr(0, equals)),
                     value);
}

class Reader {
 public:
  Reader(const std::string& path, Settings& settings) : path_(path), settings_(settings) {}

  void read(const TomlNode& document) {
    for (const auto* member : in_order(document)) {
      const auto& [name, node] = *member;
      if (node.type == TomlType::kTable && settings_.has_section(name)) {
        read_section(name, node);
      } else {
        throw at(node).error(name + ": " + no_section(name, node));
      }
    }
  }

 private:
  using Member = std::pair<std::string, TomlNode>;

  // So that the first mistake in the file is the one that is reported.
  static std::vector<const Member*> in_order(const TomlNode& table) {
    std::vector<const Member*> members;
    for (const Member& member : table.members) members.push_back(&member);
    std::stable_sort(members.begin(), members.end(), [](const Member* a, const Member* b) {
      return std::tie(a->second.line, a->second.column) <
             std::tie(b->second.line, b->second.column);
    });
    return members;
  }

  Origin at(const TomlNode& node) const {
    return {Origin::Place::kFile,
            fmt::format("configuration {}:{}:{}", path_, node.line, node.column)};
  }

  std::string no_section(const std::string& name, const TomlNode& node) const {
    if (node.type != TomlType::kTable) {
      const Setting* setting = settings_.find_key(name);
      if (setting != nullptr) return fmt::format("it belongs under [{}]", setting->section);
      if (settings_.has_section(name)) return fmt::format("expected a section, [{}]", name);
    }
    return settings_.no_section(name);
  }

  void read_section(const std::string& section, const TomlNode& table) {
    for (const auto* member : in_order(table)) {
      const auto& [key, node] = *member;
      Origin origin = at(node);
      origin.name += fmt::format(": {}.{}", section, key);
      const Setting* setting = settings_.find(section, key);
      if (setting == nullptr) throw origin.error(settings_.no_key(section, key));
      const std::string text = value_of(*setting, node, origin);
      const bool empty_list = node.type == TomlType::kArray && text.empty();
      if (empty_list && setting->value.needs_text) continue;  // the default, written down
      settings_.set(*setting, text, origin);
    }
  }

  static std::string value_of(const Setting& setting, const TomlNode& node, const Origin& origin) {
    const std::vector<TomlType>& accepted = setting.value.accepted;
    const auto refuse = [&setting, &origin](const std::string& found) {
      throw origin.error(fmt::format("expected {}, not {}", setting.value.expected, found));
    };
    if (std::find(accepted.begin(), accepted.end(), node.type) == accepted.end()) {
      refuse(to_text(node.type));
    }
    if (node.type != TomlType::kArray) return node.text;
    std::vector<std::string> parts;
    for (const TomlNode& element : node.elements) {
      const std::vector<TomlType>& elements = setting.value.elements;
      if (std::find(elements.begin(), elements.end(), element.type) == elements.end()) {
        refuse("an array with " + to_text(element.type));
      }
      parts.push_back(element.text);
    }
    return joined(parts, ",");
  }

  const std::string& path_;
  Settings& settings_;
};

}  // namespace

void read_config_file(const std::string& path, Settings& settings) {
  const std::string text = read_text(path);
  TomlNode document;
  try {
    document = parse_toml(text);
  } catch (const TomlError& error) {
    const std::string hint = missing_quotes(text, error.line);
    throw Error(ErrorKind::kConfig, fmt::format("configuration {}:{}:{}: {}", path, error.line,
                                                error.column, hint.empty() ? error.what() : hint));
  }
  Reader(path, settings).read(document);
}

}  // namespace lookout

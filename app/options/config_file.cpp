#include "app/options/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

std::string read_text(const std::string& path) {
  try {
    return read_input("configuration", path);
  } catch (const Error& error) {
    // A missing permission is no mistake in the file.
    const bool is_right = error.kind() == ErrorKind::kPermission;
    throw Error(is_right ? error.kind() : ErrorKind::kConfig, error.what());
  }
}

// Without the quotes that word processors put in place of those of TOML.
std::string without_curly_quotes(std::string_view value) {
  std::string plain(value);
  for (const std::string_view quote : {"\u201c", "\u201d", "\u201e", "\u2018", "\u2019"}) {
    for (auto at = plain.find(quote); at != plain.npos; at = plain.find(quote)) {
      plain.erase(at, quote.size());
    }
  }
  return plain;
}

// The lines up to a number, from 1, without comments and blanks around them.
std::vector<std::string_view> lines_until(std::string_view text, int number) {
  std::vector<std::string_view> lines;
  for (int i = 0; i < number; ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back(trimmed(line.substr(0, line.find('#'))));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

// For a header that TOML does not allow; empty for others. `lines`: the last one has it.
std::string wrong_header(const std::vector<std::string_view>& lines) {
  const std::string_view header = lines.back().substr(0, lines.back().find(']') + 1);
  const bool has_name =
      header.size() > 2 && std::isalpha(static_cast<unsigned char>(header[1])) != 0;
  if (!has_name || header.front() != '[') return "";
  if (header.size() < lines.back().size()) {
    const bool has_key = lines.back().find('=', header.size()) != std::string_view::npos;
    return has_key ? fmt::format("the key belongs on a line of its own below {}", header) : "";
  }
  const auto first = std::find(lines.begin(), lines.end() - 1, header);
  if (first == lines.end() - 1) return "";
  return fmt::format("{} is there already, in line {}: write its keys there", header,
                     first - lines.begin() + 1);
}

// For a value that is none of TOML's: a text without quotes, `a text needs quotes: name = "front"`,
// or what is no number or no boolean. Empty for others. `lines`: the last one has it.
std::string wrong_value(const std::vector<std::string_view>& lines, const Settings& settings) {
  const std::string_view line = lines.back();
  const auto equals = line.find('=');
  const std::string_view key = trimmed(line.substr(0, std::min(equals, line.size())));
  if (equals == line.npos || key.empty()) return "";
  const std::string value = without_curly_quotes(trimmed(line.substr(equals + 1)));
  const bool has_letters = std::any_of(
      value.begin(), value.end(), [](unsigned char c) { return std::isalpha(c) != 0 || c == '/'; });
  if (!has_letters || value.find_first_of("\"'[{\\") != value.npos) return "";
  const auto header = std::find_if(lines.rbegin(), lines.rend(), [](std::string_view before) {
    return !before.empty() && before.front() == '[' && before.back() == ']';
  });
  const std::string section(header == lines.rend() ? "" : header->substr(1, header->size() - 2));
  const Setting* setting = settings.find(section, std::string(key));
  if (setting != nullptr) {
    const auto& accepted = setting->value.accepted;
    if (std::find(accepted.begin(), accepted.end(), TomlType::kString) == accepted.end()) {
      return fmt::format("expected {}, not {}", setting->value.expected, value);
    }
  }
  return fmt::format("a text needs quotes: {} = \"{}\"", key, value);
}

// What a mistake in a line probably is; empty: not known.
std::string likely_mistake(std::string_view text, int line, const Settings& settings) {
  const auto lines = lines_until(text, std::max(line, 1));
  const std::string header = wrong_header(lines);
  return header.empty() ? wrong_value(lines, settings) : header;
}

// So that the first mistake in the file is the one that is reported.
auto in_order(const TomlNode& table) {
  auto members = table.members;
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.line, a.second.column) < std::tie(b.second.line, b.second.column);
  });
  return members;
}

std::string no_section(const std::string& name, const TomlNode& node, const Settings& settings) {
  if (node.type != TomlType::kTable) {
    const Setting* setting = settings.find_key(name);
    if (setting != nullptr) return fmt::format("it belongs under [{}]", setting->section);
    if (settings.has_section(name)) return fmt::format("expected a section, [{}]", name);
  }
  return settings.no_section(name);
}

std::string value_of(const Value& value, const TomlNode& node, const Origin& origin) {
  const auto expect = [&](const std::vector<TomlType>& types, TomlType type, const char* where) {
    if (std::find(types.begin(), types.end(), type) != types.end()) return;
    throw origin.error(fmt::format("expected {}, not {}{}", value.expected, where, to_text(type)));
  };
  expect(value.accepted, node.type, "");
  if (node.type != TomlType::kArray) return node.text;
  std::vector<std::string> parts;
  for (const TomlNode& element : node.elements) {
    expect(value.elements, element.type, "an array with ");
    parts.push_back(element.text);
  }
  return joined(parts, value.separator);
}

// `place`: begins the sentence of an error.
using Place = std::function<std::string(const TomlNode&)>;

void read_section(const std::string& section, const TomlNode& table, const Place& place,
                  Settings& settings) {
  for (const auto& [key, node] : in_order(table)) {
    const Origin origin{Origin::Place::kFile, fmt::format("{}: {}.{}", place(node), section, key)};
    const Setting* setting = settings.find(section, key);
    if (setting == nullptr) throw origin.error(settings.no_key(section, key));
    const std::string text = value_of(setting->value, node, origin);
    const bool empty_list = node.type == TomlType::kArray && text.empty();
    if (empty_list && setting->value.needs_text) continue;  // the default, written down
    settings.set(*setting, text, origin);
  }
}

// The sections [watch.gate], [watch.lamp] and so on.
void read_repeated(const std::string& prefix, const TomlNode& sections, const Place& place,
                   Settings& settings) {
  const auto expect_table = [&](const TomlNode& node, const std::string& name) {
    if (node.type == TomlType::kTable) return;
    throw Error(ErrorKind::kConfig, fmt::format("{}: {}: expected a section with a name, [{}.gate]",
                                                place(node), name, prefix));
  };
  expect_table(sections, prefix);
  for (const auto& [name, node] : in_order(sections)) {
    std::string section = prefix;
    section.append(".").append(name);
    expect_table(node, printable(section));
    settings.need_section(
        prefix, name,
        {Origin::Place::kFile, fmt::format("{}: {}", place(node), printable(section))});
    read_section(section, node, place, settings);
  }
}

void read_file(const std::string& path, Settings& settings) {
  const std::string text = read_text(path);
  TomlNode document;
  try {
    document = parse_toml(text);
  } catch (const TomlError& error) {
    const std::string hint = likely_mistake(text, error.line, settings);
    throw Error(ErrorKind::kConfig, fmt::format("configuration {}:{}:{}: {}", path, error.line,
                                                error.column, hint.empty() ? error.what() : hint));
  }
  const Place place = [&path](const TomlNode& node) {
    return fmt::format("configuration {}:{}:{}", path, node.line, node.column);
  };
  for (const auto& [name, node] : in_order(document)) {
    if (settings.is_repeated(name)) {
      read_repeated(name, node, place, settings);
      continue;
    }
    if (node.type != TomlType::kTable || !settings.has_section(name)) {
      throw Error(ErrorKind::kConfig,
                  fmt::format("{}: {}: {}", place(node), name, no_section(name, node, settings)));
    }
    read_section(name, node, place, settings);
  }
}

}  // namespace

std::vector<std::string> drop_ins_of(const std::string& config) {
  namespace fs = std::filesystem;
  const fs::path path = config;
  if (path.extension() != ".toml") return {};
  const fs::path folder =
      path.parent_path() / (path.stem() == "lookout" ? "conf.d" : path.stem().string() + ".conf.d");
  std::error_code error;
  std::vector<std::string> files;
  const fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) {
    throw Error(error == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kConfig,
                fmt::format("configuration {}: {}", folder.string(), error.message()));
  }
  for (const fs::directory_entry& entry : entries) {
    const fs::path& file = entry.path();
    // Editors and package managers leave others: .x.toml.swp, x.toml~, x.toml.dpkg-old.
    const bool is_hidden = file.filename().string().front() == '.';
    if (!is_hidden && file.extension() == ".toml") files.push_back(file.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void read_config_file(const std::string& path, Settings& settings) {
  read_file(path, settings);
  for (const std::string& file : drop_ins_of(path)) read_file(file, settings);
}

}  // namespace lookout

#include "app/options/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "pipeline/error.h"
#include "pipeline/model/byte_order_mark.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

Error wrong(const std::string& path, const std::string& what) {
  return {ErrorKind::kConfig, fmt::format("configuration {}: {}", path, what)};
}

std::string read_text(const std::string& path) {
  try {
    return read_input("configuration", path);
  } catch (const Error& error) {
    throw Error(ErrorKind::kConfig, error.what());
  }
}

bool is_number(const std::string& text) {
  double number = 0;
  return CLI::detail::lexical_cast(text, number);
}

// CLI11 takes what stands between commas or spaces for several values, and a # within quotes for
// the start of a comment.
std::string value_of(const std::string& path, const CLI::ConfigItem& item) {
  const std::vector<std::string>& parts = item.inputs;
  if (!item.parents.empty() || item.name == "++" || item.name == "--") {
    throw wrong(path, fmt::format("there are no sections, as [{}]", item.fullname()));
  }
  if (parts.empty()) throw wrong(path, item.name + " has no value");
  for (const std::string& part : parts) {
    const bool cut = !part.empty() && (part.front() == '"' || part.front() == '\'');
    if (cut) {
      throw wrong(path, item.name +
                            ": the quotes do not end, or there is a # within them, which "
                            "cannot be");
    }
  }
  const bool list = parts.size() > 1;
  if (list && !std::all_of(parts.begin(), parts.end(), is_number)) {
    throw wrong(path, item.name + ": expected one value; a text stands in quotes");
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

std::vector<Setting> read_config_file(const std::string& path) {
  std::string text = read_text(path);
  text.erase(0, byte_order_mark(text));
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::ParseError& error) {
    throw wrong(path, error.what());
  }
  std::vector<Setting> settings;
  settings.reserve(items.size());
  for (const CLI::ConfigItem& item : items) {
    settings.push_back({item.name, value_of(path, item)});
  }
  return settings;
}

}  // namespace lookout

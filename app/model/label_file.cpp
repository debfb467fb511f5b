#include "app/model/label_file.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "pipeline/archive/foreign_names.h"
#include "pipeline/archive/metadata.h"
#include "pipeline/core/byte_order_mark.h"
#include "pipeline/core/error.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

constexpr std::string_view kLineBlanks = " \t\v\f";
constexpr const char* kWayOut =
    "one label a line, a list of names in JSON, or names: in YAML is needed";

[[noreturn]] void fail_labels(const std::string& what) { throw Error(ErrorKind::kBadData, what); }

// The lines, whatever they end with: "\n", "\r\n" or "\r".
std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    lines.emplace_back(trimmed(text.substr(0, end), kLineBlanks));
    const std::size_t separator = text.substr(end, 2) == "\r\n" ? 2 : 1;
    text.remove_prefix(std::min(end + separator, text.size()));
  }
  return lines;
}

// The value of a document, in which a plain scalar of digits is a number and any other a text.
class YamlDocument {
 public:
  explicit YamlDocument(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlDocument() { yaml_parser_delete(&parser_); }
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  nlohmann::json read() {
    Event event = next();
    while (event.type() == YAML_STREAM_START_EVENT || event.type() == YAML_DOCUMENT_START_EVENT) {
      event = next();
    }
    return value(event, 1);
  }

 private:
  // Frees what libyaml allocated.
  struct Event {
    yaml_event_t event{};
    Event() = default;
    Event(Event&& other) noexcept : event(other.event) { other.event = {}; }
    Event& operator=(Event&& other) noexcept {
      std::swap(event, other.event);
      return *this;
    }
    ~Event() { yaml_event_delete(&event); }
    yaml_event_type_t type() const { return event.type; }
  };

  Event next() {
    Event event;
    if (yaml_parser_parse(&parser_, &event.event) != 0) return event;
    fail_labels(fmt::format("the labels are no YAML that can be read (line {}: {})",
                            parser_.problem_mark.line + 1,
                            parser_.problem == nullptr ? "no memory" : parser_.problem));
  }

  static std::string text_of(const Event& event) {
    const auto& scalar = event.event.data.scalar;
    return {reinterpret_cast<const char*>(scalar.value), scalar.length};
  }

  static nlohmann::json scalar(const Event& event) {
    std::string text = text_of(event);
    const bool plain = event.event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (plain && whole && std::to_string(number) == text) return number;
    return text;
  }

  nlohmann::json value(const Event& event, int depth) {
    if (depth > kMaxJsonDepth) {
      fail_labels(
          fmt::format("the labels have values within values, deeper than {}", kMaxJsonDepth));
    }
    switch (event.type()) {
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return sequence(depth);
      case YAML_MAPPING_START_EVENT:
        return mapping(depth);
      case YAML_ALIAS_EVENT:
        fail_labels("the labels have an alias (*), which is not read");
      default:
        return {};
    }
  }

  nlohmann::json sequence(int depth) {
    nlohmann::json list = nlohmann::json::array();
    for (Event event = next(); event.type() != YAML_SEQUENCE_END_EVENT; event = next()) {
      list.push_back(value(event, depth + 1));
    }
    return list;
  }

  nlohmann::json mapping(int depth) {
    nlohmann::json map = nlohmann::json::object();
    for (Event key = next(); key.type() != YAML_MAPPING_END_EVENT; key = next()) {
      if (key.type() != YAML_SCALAR_EVENT) fail_labels("the labels have a key that is no text");
      std::string name = text_of(key);
      map[std::move(name)] = value(next(), depth + 1);
    }
    return map;
  }

  yaml_parser_t parser_{};
};

// A label may begin with a bracket: [unknown].
bool begins_json(std::string_view text) {
  const std::string_view blanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  if (text.substr(0, 1) != "[") return text.substr(0, 1) == "{";
  const auto next = text.find_first_not_of(blanks, 1);
  return next == std::string_view::npos ||
         std::string_view("\"'[{(-0123456789]").find(text[next]) != std::string_view::npos;
}

// A key at the beginning of a line.
bool has_yaml_names(std::string_view text) {
  const std::string_view key = "names:";
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r') return true;
  }
  return false;
}

// What follows the number that the line begins with; nothing: it does not begin with it.
std::optional<std::string> without_number(const std::string& line, std::size_t number) {
  const std::string digits = std::to_string(number);
  if (line.compare(0, digits.size(), digits) != 0) return std::nullopt;
  std::string_view rest = line;
  rest.remove_prefix(digits.size());
  if (rest.empty() || std::string_view(" \t:,;").find(rest.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  rest = trimmed(rest.substr(1), kLineBlanks);
  return rest.empty() ? std::nullopt : std::optional<std::string>(rest);
}

// Numbers that are a part of the names stay: "1 euro" and "2 euro" would be the same label.
std::vector<std::string> without_numbers(const std::vector<std::string>& lines) {
  for (const std::size_t first : {0U, 1U}) {
    std::vector<std::string> names;
    for (const std::string& line : lines) {
      const auto name = without_number(line, first + names.size());
      if (!name) break;
      names.push_back(*name);
    }
    const bool distinct = std::set<std::string>(names.begin(), names.end()).size() == names.size();
    const bool several = first == 0 || names.size() > 1;
    if (names.size() == lines.size() && distinct && several) return names;
  }
  return lines;
}

std::vector<std::string> labels_of(const nlohmann::json& value) {
  try {
    return names_of(value);
  } catch (const std::runtime_error& error) {
    fail_labels(std::string("the labels ") + error.what());
  }
}

}  // namespace

std::vector<std::string> parse_label_file(const std::string& text, const std::string& extension) {
  std::string_view body = text;
  body.remove_prefix(byte_order_mark(text));
  const std::vector<std::string> lines = lines_of_text(body);
  if (extension == ".yaml" || extension == ".yml" || has_yaml_names(body)) {
    return labels_of(YamlDocument(body).read());
  }
  if (begins_json(body)) {
    const nlohmann::json value = parse_literal(body);
    if (value.is_discarded()) {
      fail_labels(fmt::format("the labels begin like JSON, but cannot be read as it: {}", kWayOut));
    }
    return labels_of(value);
  }
  std::string joined;
  for (const std::string& line : lines) {
    if (line == "{" || line == "}" || line == "item {") {
      fail_labels(fmt::format("the labels have a line \"{}\": {}", line, kWayOut));
    }
    joined += line + "\n";
  }
  return without_numbers(parse_labels(joined));
}

}  // namespace lookout

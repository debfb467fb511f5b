#include "app/options/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

struct Unit {
  const char* name;
  std::int64_t size;
};
constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}};
constexpr Unit kSizeUnits[] = {{"", 1},           {"B", 1},          {"KB", 1LL << 10},
                               {"MB", 1LL << 20}, {"GB", 1LL << 30}, {"TB", 1LL << 40}};

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.emplace_back(trimmed(part, " "));
  return parts;
}

// 0 when there is no such unit.
template <typename Units>
std::int64_t unit_size(const Units& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (name == unit.name) return unit.size;
  }
  return 0;
}

// In the largest unit that leaves a whole number: "2min".
template <typename Units>
std::string with_unit(const Units& units, std::int64_t number) {
  const Unit* best = &units[0];
  for (const Unit& unit : units) {
    if (number != 0 && unit.size > best->size && number % unit.size == 0) best = &unit;
  }
  return fmt::format("{}{}", number / best->size, number == 0 ? "" : best->name);
}

std::optional<milliseconds> parse_time(const std::string& text, const TimeForm& form) {
  if (text == "auto" && form.zero_is_auto) return milliseconds(0);
  const auto unit_at = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1;
  const std::string unit = text.substr(unit_at);
  const auto number = parse_finite(trimmed(text.substr(0, unit_at), " "));
  if (number > 0 && unit.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{0} needs a unit: {0}s or {0}ms", text));
  }
  const auto size = static_cast<double>(unit.empty() ? 1 : unit_size(kTimeUnits, unit));
  const auto max = static_cast<double>(form.max.count());
  if (!number || size == 0 || !(*number >= 0 && *number * size <= max)) return std::nullopt;
  const milliseconds time(*number > 0 ? std::max(std::llround(*number * size), 1LL) : 0);
  return time < form.min ? std::nullopt : std::optional(time);
}

std::string expected_time(const TimeForm& form) {
  constexpr const char* kAsIn = "as in 500ms, 10s, 5min or 1h";
  if (form.min > milliseconds(1) || form.max < kMaxTime) {
    const std::string max =
        form.max < kMaxTime ? with_unit(kTimeUnits, form.max.count()) : "ten years";
    return fmt::format("a time from {} to {}, {}", with_unit(kTimeUnits, form.min.count()), max,
                       kAsIn);
  }
  return fmt::format("a time{}, {}, of at most ten years", form.min.count() > 0 ? " above 0" : "",
                     kAsIn);
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  const std::string_view all = text;
  const auto unit_at = all.find_last_of("0123456789") + 1;
  const auto number = parse_number<std::int64_t>(all.substr(0, unit_at));
  const std::int64_t size = unit_size(kSizeUnits, trimmed(all.substr(unit_at), " "));
  if (!number || *number <= 0 || size == 0) return std::nullopt;
  if (*number > (std::int64_t{1} << 62U) / size) return std::nullopt;
  return static_cast<std::uint64_t>(*number * size);
}

constexpr double kMinRegion = 0.001;
constexpr std::size_t kMaxIgnored = 32;
constexpr const char* kRegion =
    "x,y,width,height, each from 0 to 1, inside the picture, width and height at least {}";

std::optional<std::vector<cv::Rect2d>> parse_regions(const std::string& text, std::size_t max) {
  const std::vector<double> numbers = parse_numbers(text);
  constexpr std::size_t kNumbers = 4;
  const bool is_none = numbers.empty() && !text.empty();
  if (is_none || numbers.size() % kNumbers != 0 || numbers.size() / kNumbers > max) {
    return std::nullopt;
  }
  std::vector<cv::Rect2d> regions;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbers) {
    const cv::Rect2d region(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]);
    const double end = 1 + 1e-9;  // for 0.7 + 0.3
    const bool inside = region.x >= 0 && region.y >= 0 && region.x + region.width <= end &&
                        region.y + region.height <= end;
    const bool visible = region.width >= kMinRegion && region.height >= kMinRegion;
    if (!inside || !visible) return std::nullopt;
    regions.push_back(region);
  }
  return regions;
}

template <typename Member>
Value region_of(Member& member) {
  const auto parse = [](const std::string& text) {
    const auto regions = parse_regions(text, 1);
    return regions && !regions->empty() ? std::optional(regions->front()) : std::nullopt;
  };
  Value value = parsed(member, fmt::format(kRegion, kMinRegion), "X,Y,W,H", parse);
  value.accepted = {TomlType::kString, TomlType::kArray};
  return value;
}

}  // namespace

void assign(const Value& value, const std::string& text) {
  if (value.set(text)) return;
  constexpr std::size_t kMaxShown = 40;
  const std::string shown = text.size() > kMaxShown ? "" : text.empty() ? "''" : printable(text);
  throw Error(ErrorKind::kUsage,
              "expected " + value.expected + (shown.empty() ? "" : fmt::format(", not {}", shown)));
}

Value text(std::string& member, const std::string& placeholder, void (*check)(const std::string&)) {
  const auto parse = [check](const std::string& text) {
    if (check != nullptr) check(text);
    return text.find('\0') == text.npos ? std::optional(text) : std::nullopt;
  };
  Value value = parsed(member, kAnyText, placeholder, parse);
  value.default_text = member;
  return value;
}

Value boolean(bool& member) {
  static const std::map<std::string, bool> words{{"true", true}, {"false", false}, {"1", true},
                                                 {"0", false},   {"yes", true},    {"no", false},
                                                 {"on", true},   {"off", false}};
  Value value = parsed(member, "true or false", "", [](const std::string& text) {
    const auto word = words.find(text);
    return word == words.end() ? std::nullopt : std::optional(word->second);
  });
  value.accepted = {TomlType::kBoolean};
  value.default_text = member ? "true" : "false";
  return value;
}

std::string number_to_text(double number) { return fmt::format("{}", number); }

std::optional<double> parse_finite(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::vector<double> parse_numbers(const std::string& text) {
  std::vector<double> parsed;
  for (const std::string& part : split_at_commas(text)) {
    const auto number = parse_finite(part);
    if (!number) return {};
    parsed.push_back(*number);
  }
  return parsed;
}

Value number_value(bool integer, double min, double max, std::function<void(double)> store) {
  Value value;
  value.set = [=, store = std::move(store)](const std::string& text) {
    const auto whole = parse_number<std::int64_t>(text);
    const auto number = whole ? std::optional(static_cast<double>(*whole)) : parse_finite(text);
    if (!number || (integer && !whole) || !(*number >= min && *number <= max)) return false;
    store(*number);
    return true;
  };
  value.expected = fmt::format("a {} from {} to {}", integer ? "whole number" : "number", min, max);
  value.accepted = {TomlType::kInteger};
  if (!integer) value.accepted.push_back(TomlType::kFloat);
  value.placeholder = "N";
  return value;
}

Value time_value(milliseconds& member, const TimeForm& form) {
  const bool is_auto = form.zero_is_auto;
  Value value = parsed(member, (is_auto ? "auto or " : "") + expected_time(form),
                       is_auto ? "auto|TIME" : "TIME",
                       [form](const std::string& text) { return parse_time(text, form); });
  value.accepted = {TomlType::kString, TomlType::kInteger};
  value.default_text =
      is_auto && member.count() == 0 ? "auto" : with_unit(kTimeUnits, member.count());
  return value;
}

Value time_value(std::optional<milliseconds>& member, const TimeForm& form) {
  Value value = parsed(member, expected_time(form), "TIME",
                       [form](const std::string& text) { return parse_time(text, form); });
  value.accepted = {TomlType::kString, TomlType::kInteger};
  return value;
}

Value size_value(std::uint64_t& member) {
  Value value =
      parsed(member, "a size of 1 byte or more, as in 500KB, 100MB or 2GB", "SIZE", parse_size);
  value.accepted = {TomlType::kString, TomlType::kInteger};
  value.default_text = with_unit(kSizeUnits, static_cast<std::int64_t>(member));
  return value;
}

Value numbers(std::vector<int>& member, int min, int max, const std::string& what,
              std::optional<int> automatic) {
  const auto parse = [min, max, automatic](const std::string& text) {
    std::optional<std::vector<int>> parsed(std::in_place);
    for (const std::string& part : split_at_commas(text)) {
      const bool is_auto = automatic && part == "auto";
      const auto number = is_auto ? automatic : parse_number<int>(part);
      if (!number || (!is_auto && (*number < min || *number > max))) {
        return std::optional<std::vector<int>>();
      }
      parsed->push_back(*number);
    }
    return parsed;
  };
  const std::string expected = fmt::format("numbers of {}, as in 2,3, each from {} to {}{}", what,
                                           min, max, automatic ? ", or auto" : "");
  Value value = parsed(member, expected, automatic ? "N|auto,..." : "N,...", parse);
  value.accepted = {TomlType::kString, TomlType::kInteger, TomlType::kArray};
  value.default_text = joined(member, ",");
  return value;
}

Value list(std::vector<std::string>& member, const std::string& expected,
           const std::string& placeholder, bool (*is_part)(const std::string& text)) {
  Value value = parsed(member, expected, placeholder, [is_part](const std::string& text) {
    const std::vector<std::string> parts = split_at_commas(text);
    const bool good = std::all_of(parts.begin(), parts.end(), is_part);
    return good ? std::optional(parts) : std::nullopt;
  });
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.elements = {TomlType::kString};
  return value;
}

Value lines(std::vector<std::string>& member, const std::string& expected,
            const std::string& placeholder) {
  Value value = parsed(member, expected, placeholder,
                       [](const std::string& text) -> std::optional<std::vector<std::string>> {
                         if (text.find('\0') != text.npos) return std::nullopt;
                         std::vector<std::string> parts;
                         std::istringstream all(text);
                         for (std::string line; std::getline(all, line);) {
                           if (!line.empty()) parts.push_back(std::move(line));
                         }
                         return parts;
                       });
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.elements = {TomlType::kString};
  value.separator = "\n";
  return value;
}

Value repeated_files(std::vector<std::string>& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    member.push_back(text);
    return true;
  };
  value.placeholder = "FILE";
  value.repeatable = true;
  return value;
}

Value report_file(std::string& member, const std::vector<std::string>& suffixes) {
  return parsed(member, "a file that ends in " + joined(suffixes, " or "), "FILE",
                [suffixes](const std::string& text) {
                  const auto suffix =
                      std::find(suffixes.begin(), suffixes.end(), lower_case_extension(text));
                  return suffix == suffixes.end() ? std::nullopt : std::optional(text);
                });
}

Value choice_value(const std::vector<std::string>& names, std::function<void(std::size_t)> store) {
  Value value;
  value.set = [names, store = std::move(store)](const std::string& text) {
    const auto name = std::find(names.begin(), names.end(), text);
    if (name == names.end()) return false;
    store(static_cast<std::size_t>(name - names.begin()));
    return true;
  };
  const std::vector<std::string> front(names.begin(), names.end() - 1);
  value.expected = joined(front, ", ") + " or " + names.back();
  value.placeholder = joined(names, "|");
  return value;
}

Value region(cv::Rect2d& member) {
  Value value = region_of(member);
  value.default_text = fmt::format("{},{},{},{}", member.x, member.y, member.width, member.height);
  return value;
}

Value region(std::optional<cv::Rect2d>& member) { return region_of(member); }

Value regions(std::vector<cv::Rect2d>& member) {
  const std::string expected =
      fmt::format("at most {} rectangles, each {}", kMaxIgnored, fmt::format(kRegion, kMinRegion));
  Value value = parsed(member, expected, "X,Y,W,H,...",
                       [](const std::string& text) { return parse_regions(text, kMaxIgnored); });
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.elements.push_back(TomlType::kString);
  return value;
}

}  // namespace lookout

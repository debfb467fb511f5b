// The value of a setting: a text that becomes a member of an options struct.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/options/toml_node.h"

namespace lookout {

// The functions below take a member by reference: it holds the default when the value is declared,
// and has to outlive the value.
struct Value {
  // Parses the text and stores the result. Returns false when the text is not `expected`. Throws
  // Error when the reason deserves a sentence of its own.
  std::function<bool(const std::string&)> set;
  std::string expected;      // "a number from 1 to 64": completes "expected ..."
  std::string placeholder;   // in --help: "N"; empty: a switch, which needs no text
  std::string default_text;  // empty: no default to show
  std::vector<TomlType> accepted{TomlType::kString};  // types that a configuration file may use
  // What an array in a configuration file may hold.
  std::vector<TomlType> elements{TomlType::kInteger, TomlType::kFloat};
  const char* separator = ",";  // between them, where they become one text
  bool repeatable = false;      // may be typed several times in a command line
  // An empty variable of the environment is an error, else it counts as not set.
  bool needs_text = false;
};

// Stores `text`. Throws Error(kUsage) whose sentence says what is wrong with the text.
void assign(const Value& value, const std::string& text);

// `parse` returns what the member becomes, in an optional: nothing for a text that is not
// `expected`.
template <typename T, typename Parse>
Value parsed(T& member, const std::string& expected, const std::string& placeholder, Parse parse) {
  Value value;
  value.set = [&member, parse](const std::string& text) {
    auto result = parse(text);
    if (!result) return false;
    member = *std::move(result);
    return true;
  };
  value.expected = expected;
  value.placeholder = placeholder;
  return value;
}

// What text() expects.
inline constexpr const char* kAnyText = "a text without a NUL character";

// `check` throws Error for a text that the member must not become.
Value text(std::string& member, const std::string& placeholder,
           void (*check)(const std::string&) = nullptr);
Value boolean(bool& member);

std::optional<double> parse_finite(std::string_view text);
// The numbers between commas; none when one of them is not finite.
std::vector<double> parse_numbers(const std::string& text);

Value number_value(bool integer, double min, double max, std::function<void(double)> store);
std::string number_to_text(double number);

template <typename T>
struct Plain {
  using Type = T;
};
template <typename T>
struct Plain<std::optional<T>> {
  using Type = T;
};

// `member`: an integer, a double, or an optional one of them.
template <typename T>
Value number(T& member, double min, double max) {
  using Type = typename Plain<T>::Type;
  Value value = number_value(std::is_integral_v<Type>, min, max,
                             [&member](double parsed) { member = static_cast<Type>(parsed); });
  const std::optional<Type> initial = member;
  if (initial) value.default_text = number_to_text(static_cast<double>(*initial));
  return value;
}

// Ten years, far from where clocks overflow.
inline constexpr std::chrono::milliseconds kMaxTime = std::chrono::hours(10 * 365 * 24);

struct TimeForm {
  std::chrono::milliseconds min{0};
  bool zero_is_auto = false;  // 0 is written "auto"
  std::chrono::milliseconds max = kMaxTime;
};

// 500ms, 10s, 5min, 1h; a number other than 0 needs its unit. A time above 0
// never becomes 0.
Value time_value(std::chrono::milliseconds& member, const TimeForm& form = {});
Value time_value(std::optional<std::chrono::milliseconds>& member, const TimeForm& form = {});

// Bytes: 500KB, 100MB, 2GB, where 1KB is 1024 bytes.
Value size_value(std::uint64_t& member);

// "2,3"; in a file also [2, 3] or 2. `what`: "processors". `automatic`: the number for "auto".
Value numbers(std::vector<int>& member, int min, int max, const std::string& what,
              std::optional<int> automatic = std::nullopt);

// Texts, "TEXT,TEXT", of which each `is_part`; in a file also an array of them.
Value list(std::vector<std::string>& member, const std::string& expected,
           const std::string& placeholder, bool (*is_part)(const std::string& text));

// Texts, one on each line; in a file also an array of them. `expected`: "headers, one on each
// line".
Value lines(std::vector<std::string>& member, const std::string& expected,
            const std::string& placeholder);

// A file each time that the flag or argument is given.
Value repeated_files(std::vector<std::string>& member);

// A file whose name ends in one of `suffixes`, which choose its format, in either case.
Value report_file(std::string& member, const std::vector<std::string>& suffixes);

// Part of a picture, as x,y,width,height from 0 to 1.
Value region(cv::Rect2d& member);
Value region(std::optional<cv::Rect2d>& member);

// Parts of a picture, one after the other; in a file also an array with one in each string.
Value regions(std::vector<cv::Rect2d>& member);

// One of some words. `names` is not empty.
Value choice_value(const std::vector<std::string>& names, std::function<void(std::size_t)> store);

template <typename T>
Value choice(T& member, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  std::string default_text;
  for (const auto& [name, choice] : choices) {
    names.push_back(name);
    if (choice == member) default_text = name;
  }
  Value value = choice_value(
      names, [&member, choices](std::size_t index) { member = choices[index].second; });
  value.default_text = default_text;
  return value;
}

}  // namespace lookout

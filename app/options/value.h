// The value of a setting: a text that becomes a member of an options struct.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/options/toml_node.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// The constructors below take a member by reference: it holds the default when the value is
// declared, and has to outlive the value.
struct Value {
  // Parses the text and stores the result. Returns false when the text is not `expected`. Throws
  // Error when the reason deserves a sentence of its own.
  std::function<bool(const std::string&)> set;
  std::string expected;            // "a number from 1 to 64": completes "expected ..."
  std::vector<TomlType> accepted;  // types that a configuration file may use
  // What an array in a configuration file may hold.
  std::vector<TomlType> elements{TomlType::kInteger, TomlType::kFloat};
  std::string placeholder;   // in --help: "N"; empty: a switch, which needs no text
  std::string default_text;  // empty: no default to show
  bool repeatable = false;   // may be typed several times in a command line
  // An empty variable of the environment is an error, else it counts as not set.
  bool needs_text = false;
};

// Stores `text`. Throws Error(kUsage) whose sentence says what is wrong with the text.
void assign(const Value& value, const std::string& text);

// What text() expects.
inline constexpr const char* kAnyText = "a text without a NUL character";

Value text(std::string& member, const std::string& placeholder);
Value boolean(bool& member);

// `member`: an integer, a double, or an optional one of them.
Value number_value(bool integer, double min, double max, const std::function<void(double)>& store);
std::string number_to_text(double number);

constexpr double kUnlimited = 1e18;

template <typename T>
struct Number {
  using Type = T;
  static std::string to_text(const T& member) {
    return number_to_text(static_cast<double>(member));
  }
};
template <typename T>
struct Number<std::optional<T>> {
  using Type = T;
  static std::string to_text(const std::optional<T>& member) {
    return member ? Number<T>::to_text(*member) : std::string();
  }
};

template <typename T>
Value number(T& member, double min, double max = kUnlimited) {
  using Type = typename Number<T>::Type;
  Value value = number_value(std::is_integral_v<Type>, min, max,
                             [&member](double parsed) { member = static_cast<Type>(parsed); });
  value.default_text = Number<T>::to_text(member);
  return value;
}

// A number, or "auto", which stores 0.
Value number_or_auto(int& member, int min, int max);

// A share of calls that LibTorch can sample: 0, or 0.000001 to 1.
Value sampling_share(double& member);

struct TimeForm {
  std::chrono::milliseconds min{0};
  bool zero_is_auto = false;  // 0 is written "auto"
};

// 500ms, 10s, 5min, 1h, at most ten years; a number other than 0 needs its unit. A time above 0
// never becomes 0.
Value time_value(std::chrono::milliseconds& member, const TimeForm& form = {});

// Bytes: 500KB, 100MB, 2GB, where 1KB is 1024 bytes.
Value size_value(std::uint64_t& member);

// "2,3"; in a file also [2, 3] or 2. `what`: "processors". `automatic`: the number for "auto".
Value numbers(std::vector<int>& member, int min, int max, const std::string& what,
              std::optional<int> automatic = std::nullopt);

// SHA-256 hashes, "HASH,HASH"; in a file also an array of them.
Value hashes(std::vector<std::string>& member);

// Names, "NAME,NAME", stored in lower case; in a file also an array of them.
Value names(std::vector<std::string>& member);

// Files, "FILE,FILE"; in a file also an array of them.
Value files(std::vector<std::string>& member);

// A file each time that the flag or argument is given.
inline Value repeated_files(std::vector<std::string>& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    member.push_back(text);
    return true;
  };
  value.placeholder = "FILE";
  value.repeatable = true;
  return value;
}

// Part of a picture, as x,y,width,height from 0 to 1.
Value region(cv::Rect2d& member);

// A file whose name ends in one of `suffixes`, which choose its format, in either case.
Value report_file(std::string& member, const std::vector<std::string>& suffixes);

// A size in pixels, "299" or "299x224"; empty: none is stated.
Value input_size(std::optional<InputSize>& member);

// Three numbers, "0.5,0.4,0.3", or one for all; in a file also an array of them. `above_zero`: each
// has to be.
Value numbers_of_channels(std::optional<std::array<float, 3>>& member, bool above_zero);

// Two numbers above 0, as "1.8,1.5"; in a file also an array of them.
Value number_pair(std::vector<double>& member);

// A command that is split into words like a shell's.
Value command(std::vector<std::string>& member);

// A source for open_source().
Value source(std::string& member);

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

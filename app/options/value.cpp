#include "app/options/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/printable.h"
#include "platform/sources/source_uri.h"
#include "platform/system/parse_number.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

constexpr double kMaxTimeMs = 10.0 * 365 * 24 * 3'600'000;  // far from where clocks overflow
constexpr double kMinRegion = 0.001;
constexpr std::size_t kHashDigits = 64;

struct TimeUnit {
  const char* name;
  double ms;
};
constexpr TimeUnit kTimeUnits[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}};

std::optional<double> parse_finite(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.emplace_back(trimmed(part));
  }
  return parts;
}

std::optional<double> parse_time_ms(std::string_view text) {
  const auto unit_at = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1;
  const std::string_view name = text.substr(unit_at);
  const auto number = parse_finite(trimmed(text.substr(0, unit_at)));
  if (!number) return std::nullopt;
  if (name.empty() && *number > 0) {
    throw Error(ErrorKind::kUsage, fmt::format("{0} needs a unit: {0}s or {0}ms", text));
  }
  if (name.empty()) return number;
  for (const TimeUnit& unit : kTimeUnits) {
    if (name == unit.name) return *number * unit.ms;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_time(const std::string& text, const TimeForm& form) {
  if (text == "auto" && form.zero_is_auto) return std::chrono::milliseconds(0);
  const auto ms = parse_time_ms(text);
  if (!ms || !(*ms >= 0 && *ms <= kMaxTimeMs)) return std::nullopt;
  const std::chrono::milliseconds time(*ms > 0 ? std::max(std::llround(*ms), 1LL) : 0);
  return time < form.min ? std::nullopt : std::optional(time);
}

std::string time_to_text(std::chrono::milliseconds time) {
  if (time.count() == 0) return "0";
  const TimeUnit* best = &kTimeUnits[0];
  for (const TimeUnit& unit : kTimeUnits) {
    if (time.count() % static_cast<std::int64_t>(unit.ms) == 0) best = &unit;
  }
  return fmt::format("{}{}", time.count() / static_cast<std::int64_t>(best->ms), best->name);
}

// Bytes in a B, KB, MB, GB or TB.
std::optional<std::uint64_t> size_unit(std::string_view name) {
  const std::string_view prefixes = "KMGT";
  if (name.empty() || name == "B") return 1;
  const auto power = prefixes.find(name.front());
  if (power == std::string_view::npos || name.substr(1) != "B") return std::nullopt;
  return std::uint64_t{1} << (10 * (power + 1));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto unit_at = text.find_last_of("0123456789") + 1;
  const auto number = parse_number<std::uint64_t>(text.substr(0, unit_at));
  const auto unit = size_unit(trimmed(text.substr(unit_at)));
  if (!number || !unit || *number == 0) return std::nullopt;
  if (*number > (std::uint64_t{1} << 62U) / *unit) return std::nullopt;
  return *number * *unit;
}

std::string size_to_text(std::uint64_t bytes) {
  const char* const names[] = {"", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, names[unit]);
}

// Empty when one of them is no number.
std::vector<double> parse_numbers(const std::string& text) {
  std::vector<double> parsed;
  for (const std::string& part : split_at_commas(text)) {
    const auto number = parse_finite(part);
    if (!number) return {};
    parsed.push_back(*number);
  }
  return parsed;
}

std::optional<cv::Rect2d> parse_region(const std::string& text) {
  const std::vector<double> parsed = parse_numbers(text);
  if (parsed.size() != 4) return std::nullopt;
  const cv::Rect2d region(parsed[0], parsed[1], parsed[2], parsed[3]);
  const double max = 1 + 1e-9;  // for 0.7 + 0.3
  const bool inside = region.x >= 0 && region.y >= 0 && region.x + region.width <= max &&
                      region.y + region.height <= max;
  const bool visible = region.width >= kMinRegion && region.height >= kMinRegion;
  return inside && visible ? std::optional(region) : std::nullopt;
}

// Texts, "TEXT,TEXT", of which each `is_part`; in a file also an array of them.
Value list(std::vector<std::string>& member, bool (*is_part)(const std::string& text)) {
  Value value;
  value.set = [&member, is_part](const std::string& text) {
    const std::vector<std::string> parts = split_at_commas(text);
    if (!std::all_of(parts.begin(), parts.end(), is_part)) return false;
    member = parts;
    return true;
  };
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.elements = {TomlType::kString};
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

Value text(std::string& member, const std::string& placeholder) {
  Value value;
  value.set = [&member](const std::string& text) {
    member = text;
    return text.find('\0') == std::string::npos;
  };
  value.expected = kAnyText;
  value.accepted = {TomlType::kString};
  value.placeholder = placeholder;
  value.default_text = member;
  return value;
}

Value boolean(bool& member) {
  static const std::map<std::string, bool> words{{"true", true}, {"false", false}, {"1", true},
                                                 {"0", false},   {"yes", true},    {"no", false},
                                                 {"on", true},   {"off", false}};
  Value value;
  value.set = [&member](const std::string& text) {
    const auto word = words.find(text);
    if (word != words.end()) member = word->second;
    return word != words.end();
  };
  value.expected = "true or false";
  value.accepted = {TomlType::kBoolean};
  value.default_text = member ? "true" : "false";
  return value;
}

std::string number_to_text(double number) { return fmt::format("{}", number); }

Value number_value(bool integer, double min, double max, const std::function<void(double)>& store) {
  Value value;
  value.set = [=](const std::string& text) {
    const auto whole = parse_number<std::int64_t>(text);
    const auto number = whole ? std::optional(static_cast<double>(*whole)) : parse_finite(text);
    if (!number || (integer && !whole) || !(*number >= min && *number <= max)) return false;
    store(*number);
    return true;
  };
  const char* const kind = integer ? "a whole number" : "a number";
  value.expected = max == kUnlimited ? fmt::format("{} of {} or more", kind, min)
                                     : fmt::format("{} from {} to {}", kind, min, max);
  value.accepted = {TomlType::kInteger};
  if (!integer) value.accepted.push_back(TomlType::kFloat);
  value.placeholder = "N";
  return value;
}

Value number_or_auto(int& member, int min, int max) {
  Value value = number(member, min, max);
  value.set = [&member, whole = value.set](const std::string& text) {
    if (text != "auto") return whole(text);
    member = 0;
    return true;
  };
  value.expected = "auto or " + value.expected;
  value.accepted.push_back(TomlType::kString);
  value.placeholder = "auto|N";
  if (member == 0) value.default_text = "auto";
  return value;
}

Value sampling_share(double& member) {
  // LibTorch cannot sample more rarely than one call in a million.
  Value value = number(member, 1e-6, 1);
  value.set = [&member, share = value.set](const std::string& text) {
    if (parse_finite(text) != 0) return share(text);
    member = 0;
    return true;
  };
  value.expected = "0 or a share of calls from 0.000001 to 1";
  return value;
}

Value time_value(std::chrono::milliseconds& member, const TimeForm& form) {
  Value value;
  value.set = [&member, form](const std::string& text) {
    const auto time = parse_time(text, form);
    if (time) member = *time;
    return time.has_value();
  };
  const bool is_auto = form.zero_is_auto;
  value.expected = fmt::format("{}a time{}, as in 500ms, 10s, 5min or 1h, of at most ten years",
                               is_auto ? "auto or " : "", form.min.count() > 0 ? " above 0" : "");
  value.accepted = {TomlType::kString, TomlType::kInteger};
  value.placeholder = is_auto ? "auto|TIME" : "TIME";
  value.default_text = is_auto && member.count() == 0 ? "auto" : time_to_text(member);
  return value;
}

Value size_value(std::uint64_t& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    const auto size = parse_size(text);
    if (size) member = *size;
    return size.has_value();
  };
  value.expected = "a size of 1 byte or more, as in 500KB, 100MB or 2GB";
  value.accepted = {TomlType::kString, TomlType::kInteger};
  value.placeholder = "SIZE";
  value.default_text = size_to_text(member);
  return value;
}

Value numbers(std::vector<int>& member, int min, int max, const std::string& what,
              std::optional<int> automatic) {
  Value value;
  value.set = [&member, min, max, automatic](const std::string& text) {
    std::vector<int> parsed;
    for (const std::string& part : split_at_commas(text)) {
      const bool is_auto = automatic && part == "auto";
      const auto number = is_auto ? automatic : parse_number<int>(part);
      if (!number || (!is_auto && (*number < min || *number > max))) return false;
      parsed.push_back(*number);
    }
    member = parsed;
    return true;
  };
  value.expected = fmt::format("numbers of {}, as in 2,3, each from {} to {}{}", what, min, max,
                               automatic ? ", or auto" : "");
  value.accepted = {TomlType::kString, TomlType::kInteger, TomlType::kArray};
  value.placeholder = automatic ? "N|auto,..." : "N,...";
  value.default_text = joined(member, ",");
  return value;
}

// An empty text is no list of them: a variable that a script forgot to set must not switch the
// check off.
Value hashes(std::vector<std::string>& member) {
  Value value = list(member, [](const std::string& part) {
    return part.size() == kHashDigits &&
           part.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  });
  value.set = [set = value.set](const std::string& text) { return !text.empty() && set(text); };
  value.needs_text = true;
  value.expected = fmt::format("SHA-256 hashes, each of {} hexadecimal digits", kHashDigits);
  value.placeholder = "HASH,...";
  return value;
}

Value names(std::vector<std::string>& member) {
  Value value = list(member, [](const std::string& part) {
    return !part.empty() && part.find_first_of(" :/") == std::string::npos;
  });
  value.set = [set = value.set](const std::string& text) { return set(lower_case(text)); };
  value.expected = "names without ports, as in pi.lan,camera.example";
  value.placeholder = "NAME,...";
  return value;
}

Value files(std::vector<std::string>& member) {
  Value value = list(member, [](const std::string& part) {
    return !part.empty() && part.find('\0') == std::string::npos;
  });
  value.expected = "files, as in one.so,other.so";
  value.placeholder = "FILE,...";
  return value;
}

Value region(cv::Rect2d& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    const auto region = parse_region(text);
    if (region) member = *region;
    return region.has_value();
  };
  value.expected = fmt::format(
      "x,y,width,height, each from 0 to 1, inside the picture, width and height at least {}",
      kMinRegion);
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.placeholder = "X,Y,W,H";
  value.default_text = fmt::format("{},{},{},{}", member.x, member.y, member.width, member.height);
  return value;
}

Value number_pair(std::vector<double>& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    const std::vector<double> parsed = parse_numbers(text);
    if (parsed.size() != 2 || parsed[0] <= 0 || parsed[1] <= 0) return false;
    member = parsed;
    return true;
  };
  value.expected = "two numbers above 0, as in 1.8,1.5";
  value.accepted = {TomlType::kString, TomlType::kArray};
  value.placeholder = "N,N";
  return value;
}

Value input_size(std::optional<InputSize>& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    const std::string_view sides = text;
    const auto cross = sides.find('x');
    const auto width = parse_number<int>(sides.substr(0, cross));
    const auto height =
        cross == std::string_view::npos ? width : parse_number<int>(sides.substr(cross + 1));
    const auto is_side = [](std::optional<int> side) {
      return side && *side >= 1 && *side <= kMaxInputSide;
    };
    if (!is_side(width) || !is_side(height)) return false;
    member = InputSize{*width, *height};
    return true;
  };
  value.expected =
      fmt::format("a width and height from 1 to {}, as in 299 or 320x240", kMaxInputSide);
  value.accepted = {TomlType::kString, TomlType::kInteger};
  value.placeholder = "WxH";
  return value;
}

Value numbers_of_channels(std::optional<std::array<float, 3>>& member, bool above_zero) {
  Value value;
  value.set = [&member, above_zero](const std::string& text) {
    std::vector<double> parsed = parse_numbers(text);
    if (parsed.size() == 1) parsed.resize(3, parsed.front());
    if (parsed.size() != 3) return false;
    std::array<float, 3> numbers{};
    std::transform(parsed.begin(), parsed.end(), numbers.begin(),
                   [](double number) { return static_cast<float>(number); });
    const bool good = std::all_of(numbers.begin(), numbers.end(), [&](float number) {
      return std::isfinite(number) && (!above_zero || number > 0);
    });
    if (good) member = numbers;
    return good;
  };
  value.expected = fmt::format("three numbers{}, as in 0.5,0.4,0.3, or one for all",
                               above_zero ? " above 0" : "");
  value.accepted = {TomlType::kString, TomlType::kInteger, TomlType::kFloat, TomlType::kArray};
  value.placeholder = "R,G,B";
  return value;
}

Value report_file(std::string& member, const std::vector<std::string>& suffixes) {
  Value value = text(member, "FILE");
  value.set = [&member, suffixes](const std::string& text) {
    const std::string suffix = lower_case_extension(text);
    if (std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end()) return false;
    member = text;
    return true;
  };
  value.expected = fmt::format("a file that ends in {}", joined(suffixes, " or "));
  return value;
}

Value command(std::vector<std::string>& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    if (text.find('\0') != std::string::npos) return false;
    member = text.empty() ? std::vector<std::string>() : split_command(text);
    return true;
  };
  value.expected = "a command";
  value.accepted = {TomlType::kString};
  value.placeholder = "CMD";
  return value;
}

Value source(std::string& member) {
  Value value = text(member, "SOURCE");
  value.set = [&member](const std::string& text) {
    check_source_text(text);
    member = text;
    return true;
  };
  value.expected = "a camera, a picture, a folder, a video or test://PATTERN";
  return value;
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
  value.expected =
      front.empty() ? names.back() : fmt::format("{} or {}", joined(front, ", "), names.back());
  value.accepted = {TomlType::kString};
  value.placeholder = joined(names, "|");
  return value;
}

}  // namespace lookout

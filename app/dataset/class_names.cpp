#include "app/dataset/class_names.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "app/options/settings.h"
#include "pipeline/core/text.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr const char* kEndsOfWords = " ,\t";

std::string without_spaces(const std::string& text) {
  return std::string(trimmed(text, " \t\r\n\f\v"));
}

std::string without_wordnet_number(const std::string& name) {
  constexpr std::size_t kNumber = 9;  // n01440764
  if (name.size() < kNumber + 2 || std::tolower(name[0]) != 'n' || name[kNumber] != '_' ||
      name.find_first_not_of("0123456789", 1) != kNumber) {
    return {};
  }
  std::string label = name.substr(kNumber + 1);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

// "great", "great white" and "great white shark" of "great white shark, white shark"; not "white".
std::vector<std::string> starts_of(const std::string& label) {
  std::vector<std::string> starts;
  for (auto end = label.find_first_of(kEndsOfWords); end != std::string::npos;
       end = label.find_first_of(kEndsOfWords, end + 1)) {
    std::string start = label.substr(0, end);
    if (!start.empty() && (starts.empty() || starts.back() != start)) {
      starts.push_back(std::move(start));
    }
  }
  return starts;
}

void add(std::vector<std::size_t>& indices, std::size_t index) {
  if (indices.empty() || indices.back() != index) indices.push_back(index);
}

}  // namespace

std::string folded(const std::string& text) {
  std::string plain = without_spaces(text);
  utf8proc_uint8_t* mapped = nullptr;
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE | UTF8PROC_CASEFOLD);
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(plain.data()),
                   static_cast<utf8proc_ssize_t>(plain.size()), &mapped, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, std::free);
  if (size < 0) return plain;  // not UTF-8
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

ClassNames::ClassNames(const std::vector<std::string>& labels)
    : count_(labels.size()),
      are_numbers_(std::all_of(
          labels.begin(), labels.end(),
          [](const std::string& label) { return parse_number<std::size_t>(label).has_value(); })),
      suggestions_(labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    add(whole_[labels[i]], i);
    add(folded_whole_[folded(labels[i])], i);
    for (const std::string& start : starts_of(labels[i])) {
      add(starts_[start], i);
      add(folded_starts_[folded(start)], i);
      if (labels[i][start.size()] == ',') suggestions_.push_back(start);
    }
  }
}

void ClassNames::add_name(const std::string& name, std::size_t index) { add(whole_[name], index); }

ClassNames::Indices ClassNames::find_all(const std::string& name) const {
  const auto in = [](const Names& names, const std::string& key) {
    const auto found = key.empty() ? names.end() : names.find(key);
    return found == names.end() ? Indices() : found->second;
  };
  const auto by_convention = [&in](const Names& whole, const Names& starts, const std::string& key,
                                   const std::string& plain) {
    Indices found = in(whole, plain);
    const Indices more = in(starts, key);
    found.insert(found.end(), more.begin(), more.end());
    return found;
  };
  Indices found = in(whole_, name);
  if (!found.empty()) return found;
  const auto index = parse_number<std::size_t>(without_spaces(name));
  if (index && *index < count_ && !are_numbers_) return {*index};
  const std::string plain = without_wordnet_number(without_spaces(name));
  found = by_convention(whole_, starts_, name, plain);
  if (found.empty()) found = in(folded_whole_, folded(name));
  if (found.empty()) {
    found = by_convention(folded_whole_, folded_starts_, folded(name), folded(plain));
  }
  return found;
}

std::optional<std::size_t> ClassNames::find(const std::string& name) const {
  const Indices found = find_all(name);
  if (found.size() != 1) return std::nullopt;
  return found.front();
}

std::string ClassNames::problem(const std::string& name) const {
  const Indices found = find_all(name);
  if (found.size() > 1) {
    return fmt::format("'{}' means more than one label, {} and {}: use the index", name, found[0],
                       found[1]);
  }
  const std::string plain = without_wordnet_number(without_spaces(name));
  return fmt::format(
      "'{}' is none of the model's {} labels, nor the index of one{}", name, count_,
      did_you_mean(plain.empty() ? without_spaces(name) : plain, suggestions_, "{}"));
}

}  // namespace lookout

#include "app/options/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "pipeline/core/lower_case.h"

namespace lookout {
namespace {

constexpr std::string_view kPrefix = "LOOKOUT_";

std::string variable_of(const std::string& words) {
  std::string name = std::string(kPrefix) + words;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

// Variables that are no settings: those that a command of --on-change gets, the file's name, and
// those of the tests and build scripts.
bool is_read_elsewhere(const std::string& variable) {
  if (variable == "LOOKOUT_CONFIG" || variable == "LOOKOUT_CACHE") return true;
  const auto begins = [&variable](const char* prefix) { return variable.rfind(prefix, 0) == 0; };
  return begins("LOOKOUT_EVENT_") || begins("LOOKOUT_TEST_") || begins("LOOKOUT_FAKE_") ||
         begins("LOOKOUT_SOAK_");
}

// The variables that are not empty, in the order of their names.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

// Optimal string alignment: characters to insert, delete or replace, and neighbours to swap.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

// The index of the name that is most like `name`; nothing when none is like it: a third of the
// characters may differ, but one always.
std::optional<std::size_t> nearest_of(const std::string& name,
                                      const std::vector<std::string>& names) {
  constexpr std::size_t kMaxCompared = 100;
  if (name.size() > kMaxCompared) return std::nullopt;
  std::optional<std::size_t> nearest;
  std::size_t min_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t distance = edit_distance(name, names[i]);
    if (distance >= min_distance) continue;
    min_distance = distance;
    nearest = i;
  }
  return nearest;
}

}  // namespace

std::string Setting::variable() const { return variable_of(name()); }

Error Origin::error(const std::string& what) const {
  const bool typed = place == Place::kCommandLine;
  return {typed ? ErrorKind::kUsage : ErrorKind::kConfig, name + ": " + what};
}

void Settings::add(const std::string& section, const std::string& key, Value value,
                   const std::string& help, const std::string& flag) {
  settings_.push_back({section, key, std::move(value), help, flag});
}

const Setting* Settings::find(const std::string& section, const std::string& key) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& setting) {
    return setting.section == section && setting.key == key;
  });
  return found == settings_.end() ? nullptr : &*found;
}

const Setting* Settings::find_key(const std::string& key) const {
  const Setting* example = nullptr;
  for (const Setting& setting : settings_) {
    if (setting.key != key) continue;
    if (!setting.is_example) return &setting;
    if (example == nullptr) example = &setting;
  }
  return example;
}

bool Settings::has_section(const std::string& section) const {
  return std::any_of(settings_.begin(), settings_.end(),
                     [&](const Setting& setting) { return setting.section == section; });
}

void Settings::set(const Setting& setting, const std::string& text, const Origin& origin) {
  const Origin before = this->origin({setting.name().c_str()});
  if (origin.place == Origin::Place::kCommandLine && before.place == origin.place) {
    throw origin.error(before.name == origin.name ? "given twice"
                                                  : "already given by " + before.name);
  }
  try {
    assign(setting.value, text);
  } catch (const Error& error) {
    throw origin.error(error.what());
  }
  origins_[setting.name()] = origin;
  given_[setting.name()] = text;
}

void Settings::need_section(const std::string& prefix, const std::string& name,
                            const Origin& origin) {
  constexpr std::size_t kMaxName = 32;
  Repeated& repeated = repeated_.at(prefix);
  if (has_section(prefix + "." + name) && name != kExampleName) return;
  const bool has_letters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_');
  });
  if (name.empty() || name.size() > kMaxName || !has_letters || name == kExampleName) {
    throw origin.error(fmt::format("a name has 1 to {} letters, digits, - and _, as in [{}.gate]",
                                   kMaxName, prefix));
  }
  for (const std::string& other : repeated.names) {
    if (variable_of(other) != variable_of(name)) continue;
    throw origin.error(fmt::format(
        "it has the same variables of the environment as [{}.{}]: rename one", prefix, other));
  }
  if (repeated.names.size() == repeated.max) {
    throw origin.error(fmt::format("there may be at most {} sections [{}.NAME]: leave one out",
                                   repeated.max, prefix));
  }
  repeated.names.push_back(name);
  repeated.declare(*this, name);
}

void Settings::set_by_argument(const std::string& text) {
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  auto dot = name.find('.');
  const Origin origin{Origin::Place::kCommandLine, "--set " + name};
  const bool repeated = is_repeated(name.substr(0, dot));
  const auto first_dot = dot;
  if (repeated && dot != std::string::npos) dot = name.find('.', dot + 1);
  if (equals == std::string::npos || dot == std::string::npos) {
    throw origin.error(repeated ? "expected section.name.key=value, as in watch.gate.roi=0,0,1,1"
                                : "expected section.key=value, as in results.top-k=3");
  }
  if (repeated) {
    need_section(name.substr(0, first_dot), name.substr(first_dot + 1, dot - first_dot - 1),
                 origin);
  }
  const std::string section = name.substr(0, dot);
  const std::string key = name.substr(dot + 1);
  const Setting* setting = find(section, key);
  if (setting == nullptr) {
    throw origin.error(has_section(section) ? no_key(section, key) : no_section(section));
  }
  set(*setting, text.substr(equals + 1), origin);
}

std::vector<std::string> Settings::read_environment() {
  std::set<std::string> known;
  for (const Setting& setting : settings_) {
    if (setting.is_example) continue;
    known.insert(setting.variable());
    const char* text = std::getenv(setting.variable().c_str());
    if (text == nullptr || (*text == '\0' && !setting.value.needs_text)) continue;
    set(setting, text, {Origin::Place::kEnvironment, "environment " + setting.variable()});
  }
  std::vector<std::string> warnings;
  for (const auto& [variable, text] : environment()) {
    if (known.count(variable) > 0 || set_repeated(variable, text)) continue;
    check_variable(variable);
    if (variable.rfind(kPrefix, 0) != 0 || is_read_elsewhere(variable)) continue;
    warnings.push_back(fmt::format("environment {}: there is no such setting, it is ignored{}",
                                   variable, nearest_variable(variable)));
  }
  return warnings;
}

// Whether the variable is one of a section [watch.gate], which is made if it is not there: in
// lower case.
bool Settings::set_repeated(const std::string& variable, const std::string& text) {
  for (auto& [prefix, repeated] : repeated_) {
    const std::string start = variable_of(prefix) + "_";
    if (variable.compare(0, start.size(), start) != 0) continue;
    const Origin origin{Origin::Place::kEnvironment, "environment " + variable};
    for (const Setting& example : settings_) {
      const std::string end = variable_of(example.key).substr(kPrefix.size() - 1);
      const bool is_key = example.is_example && example.section == prefix + "." + kExampleName &&
                          variable.size() > start.size() + end.size() &&
                          variable.compare(variable.size() - end.size(), end.size(), end) == 0;
      if (!is_key) continue;
      const std::string word =
          variable.substr(start.size(), variable.size() - start.size() - end.size());
      const auto named = std::find_if(
          repeated.names.begin(), repeated.names.end(),
          [&word](const auto& name) { return variable_of(name) == std::string(kPrefix) + word; });
      const std::string name = named == repeated.names.end() ? lower_case(word) : *named;
      const std::string key = example.key;
      need_section(prefix, name, origin);
      set(*find(fmt::format("{}.{}", prefix, name), key), text, origin);
      return true;
    }
    throw origin.error(fmt::format(
        "expected {0}NAME_KEY, as in {0}GATE_ROI; lookout help {1} lists the keys", start, prefix));
  }
  return false;
}

// Throws for a variable whose section exists.
void Settings::check_variable(const std::string& variable) const {
  const Origin origin{Origin::Place::kEnvironment, "environment " + variable};
  bool in_section = false;
  for (const Setting& setting : settings_) {
    const std::string prefix = variable_of(setting.section) + "_";
    in_section = in_section || variable.compare(0, prefix.size(), prefix) == 0;
  }
  if (in_section) {
    throw origin.error("there is no such setting" + nearest_variable(variable));
  }
}

// Compares the words after LOOKOUT_, also with keys alone: LOOKOUT_TOPK lacks its section.
std::string Settings::nearest_variable(const std::string& variable) const {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  const auto add = [&](const std::string& name, const std::string& meant) {
    words.push_back(name.substr(kPrefix.size()));
    variables.push_back(meant);
  };
  add("LOOKOUT_CONFIG", "LOOKOUT_CONFIG");
  for (const Setting& setting : settings_) {
    add(setting.variable(), setting.variable());
    add(variable_of(setting.key), setting.variable());
  }
  const auto nearest = nearest_of(variable.substr(kPrefix.size()), words);
  return nearest ? "; did you mean " + variables[*nearest] + "?" : std::string();
}

Origin Settings::origin(std::initializer_list<const char*> which) const {
  Origin winner;
  for (const char* name : which) {
    const auto origin = origins_.find(name);
    if (origin != origins_.end() && origin->second.place >= winner.place) winner = origin->second;
  }
  return winner;
}

std::string Settings::no_section(const std::string& section) const {
  std::vector<std::string> names;
  for (const Setting& setting : settings_) names.push_back(setting.section);
  return fmt::format("there is no section [{}]{}", section, did_you_mean(section, names, "[{}]"));
}

std::string Settings::no_key(const std::string& section, const std::string& key) const {
  std::vector<std::string> names;
  for (const Setting& setting : settings_) {
    if (setting.section == section) names.push_back(setting.key);
    if (setting.key == key) {
      return fmt::format("there is no {} in [{}]; it belongs in [{}]", key, section,
                         setting.section);
    }
  }
  return fmt::format("there is no {} in [{}]{}", key, section, did_you_mean(key, names, "{}"));
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& names,
                         const char* format) {
  const auto nearest = nearest_of(name, names);
  if (!nearest) return {};
  return fmt::format("; did you mean {}?", fmt::format(fmt::runtime(format), names[*nearest]));
}

}  // namespace lookout

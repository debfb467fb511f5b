// The settings of a run. Each is declared once. The environment overrides the configuration file,
// and the command line overrides both.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/options/value.h"
#include "pipeline/core/error.h"

namespace lookout {

struct Setting {
  std::string section;  // "results"
  std::string key;      // "top-k"
  Value value;
  std::string help;
  std::string flag;  // "--top-k", "-t,--timeout"; empty: none
  // Stands for the same key of every section [watch.gate] that the user makes, and has no value.
  bool is_example = false;

  std::string name() const { return section + "." + key; }
  std::string variable() const;  // LOOKOUT_RESULTS_TOP_K
};

// Where a value comes from.
struct Origin {
  enum class Place { kDefault, kFile, kEnvironment, kCommandLine };
  Place place = Place::kDefault;
  std::string name;  // begins a sentence: "environment LOOKOUT_RESULTS_TOP_K"

  // kConfig, or kUsage for the command line.
  Error error(const std::string& what) const;
};

class Settings {
 public:
  void add(const std::string& section, const std::string& key, Value value, const std::string& help,
           const std::string& flag = "");

  // Declares a section that there may be several times, up to `max`, each with a name of the
  // user's, [watch.gate]: a new element of `all` then, which has that name. Its keys are declared
  // for the section [watch.NAME] at once, as examples.
  template <typename Options>
  void add_repeated(const std::string& prefix, std::deque<Options>& all, std::size_t max) {
    Options example;
    example.name = kExampleName;
    declare(*this, example);
    for (Setting& setting : settings_) {
      if (setting.section != prefix + "." + kExampleName) continue;
      setting.value.set = nullptr;
      setting.is_example = true;
    }
    repeated_[prefix] = {max, [&all](Settings& settings, const std::string& name) {
                           all.emplace_back().name = name;
                           declare(settings, all.back());
                         }};
  }

  // Whether there are sections [prefix.NAME].
  bool is_repeated(const std::string& prefix) const { return repeated_.count(prefix) > 0; }

  // Makes the section [prefix.name] if it is not there. Throws Error of the origin's kind for a
  // name that is none, and for one too many.
  void need_section(const std::string& prefix, const std::string& name, const Origin& origin);

  const std::deque<Setting>& all() const { return settings_; }

  // Null when there is none.
  const Setting* find(const std::string& section, const std::string& key) const;
  // The first one with this key, whatever its section; an example where there is no other.
  const Setting* find_key(const std::string& key) const;
  bool has_section(const std::string& section) const;

  // `text` as in "results.top-k=3". Throws Error(kUsage).
  void set_by_argument(const std::string& text);

  // Sets what the variables LOOKOUT_SECTION_KEY say. Empty ones count as not set. Throws
  // Error(kConfig), also for a variable that no setting has though its section exists. Returns a
  // sentence for each other variable that begins with LOOKOUT_ and that nothing reads.
  std::vector<std::string> read_environment();

  // Throws Error of the origin's kind, also when the command line sets a setting twice.
  void set(const Setting& setting, const std::string& text, const Origin& origin);

  // The texts that were set, by the settings' names.
  const std::map<std::string, std::string>& given() const { return given_; }

  // The origin of a setting's present value; `which`, of several, the one that wins over the
  // others.
  Origin origin(std::initializer_list<const char*> which) const;

  // "there is no section [camra]; did you mean [camera]?"
  std::string no_section(const std::string& section) const;
  // The same of a key in a section that exists.
  std::string no_key(const std::string& section, const std::string& key) const;

 private:
  struct Repeated {
    std::size_t max = 0;
    std::function<void(Settings& settings, const std::string& name)> declare;
    std::vector<std::string> names{};
  };

  static constexpr const char* kExampleName = "NAME";

  bool set_repeated(const std::string& variable, const std::string& text);
  void check_variable(const std::string& variable) const;
  std::string nearest_variable(const std::string& variable) const;

  std::deque<Setting> settings_;              // addresses stay the same
  std::map<std::string, Origin> origins_;     // by the settings' names
  std::map<std::string, std::string> given_;  // likewise
  std::map<std::string, Repeated> repeated_;  // by the prefix of the sections
};

// The setting with this key among those of a group of options.
template <typename Options>
Setting declared(Options& options, const std::string& key) {
  Settings settings;
  declare(settings, options);
  return *settings.find_key(key);
}

// "; did you mean X?" where `names` has one that is like `name`, else nothing. X is printed by
// `format`, for fmt::format.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names,
                         const char* format);

}  // namespace lookout

// The command line: flags of `run`, which are those of the program, and sub-commands.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/options.h"
#include "app/options/settings.h"

// CLI11's header takes seconds to compile: only what uses its classes includes it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lookout {

// A sub-command with flags of its own.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}

  // `name`: "--top-k", or "-t,--timeout". A switch when `value` has no placeholder. The value is
  // set as often as the flag is typed; twice is an error unless it is repeatable.
  void add_flag(const std::string& name, Value value, const std::string& help,
                const std::string& group = "Options");
  void add_positional(const std::string& name, Value value, const std::string& help,
                      bool required = false);
  // The flag of a setting; `help`: empty for the setting's own.
  void add_flag_of(const Settings& settings, const std::string& section, const std::string& key,
                   const std::string& help = "");

  // Whether `flag` was typed.
  bool has(const std::string& flag) const;

  // Lines for --help.
  void examples(const std::string& lines);

  // Checks the values together. Throws Error(kUsage).
  void check(std::function<void()> check) { check_ = std::move(check); }

  // Sets the action of this command, which runs after its values are set and returns an exit
  // status.
  void run(std::function<int()> action) { action_ = std::move(action); }

 private:
  friend class CommandLine;

  struct Argument {
    std::string name;  // for error sentences
    Value value;
  };

  CLI::Option* bind(CLI::Option* option, const std::string& name, Value value);
  // Sets the typed values in the order of the command line. Throws Error(kUsage).
  void set_values();

  CLI::App& app_;
  std::map<const CLI::Option*, Argument> arguments_;
  std::function<void()> check_ = [] {};
  std::function<int()> action_;
};

class CommandLine {
 public:
  using RunAction = std::function<int(const RunOptions&)>;

  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // A sub-command that takes the options of `run`; "mqtt forget" is one within another. The first
  // one is the default. `config`: a file
  // that is read when it exists and no other is named; empty: none. The first line of the
  // description stands in the list of commands. Returns the command, for flags
  // of its own; the reference stays valid.
  Command& add_like_run(const std::string& name, const std::string& description,
                        const RunAction& action, const std::string& config = "");

  // The sub-command takes no SOURCE; `advice` says what to do instead.
  void refuse_source(const std::string& name, const std::string& advice) {
    without_source_[name] = advice;
  }

  // A sub-command with flags of its own. The reference stays valid.
  Command& add(const std::string& name, const std::string& description);

  // `arguments`: without the program's name. Runs what they ask for and returns its exit status;
  // `print` gets the text of --help and --version. Reads the environment and the file named by
  // --config for the options of `run`. Throws Error(kUsage) for the command line, Error(kConfig)
  // for the environment and the file, and the command's errors. `help WORD...` prints the page of
  // a command or of a section of the configuration file; `help reference` every key as Markdown.
  int run(const std::vector<std::string>& arguments,
          const std::function<void(std::string_view)>& print);

 private:
  void add_run_flags();
  std::string help() const;
  std::string help_about(const std::vector<std::string>& words) const;
  std::string top_page() const;
  std::string command_list() const;
  std::string command_page(const CLI::App& app) const;
  std::string option_groups(const CLI::App& app, const CLI::App* run) const;
  std::string keys_without_flags() const;
  std::string section_page(const std::string& section) const;
  std::string reference_page() const;
  std::vector<std::string> section_names() const;
  static std::string brief(const CLI::App& app);
  static std::string full_name(const CLI::App& app);  // "doctor", or "mqtt forget"
  std::string needs_value(const std::string& sentence) const;
  std::string missing(const std::string& sentence) const;
  std::string unexpected() const;
  std::string meant_flag(const std::string& typed) const;
  std::vector<std::string> flags() const;
  std::string config_path() const;
  void set_typed(Command& command) const;
  void parse(std::vector<std::string> arguments);
  void check_place() const;
  void check_source(const std::string& source) const;
  void check_combinations() const;
  void check_thresholds() const;
  int run_with_options(const RunAction& action);
  CLI::App* add_subcommand(const std::string& name, const std::string& description);
  const CLI::App* chosen() const;
  bool has_own_options() const;
  Error usage_error(const std::string& sentence) const;

  std::unique_ptr<CLI::App> owner_;
  CLI::App& app_;
  RunOptions options_;
  Settings settings_;
  std::string config_;  // the file
  Command root_{app_};
  std::deque<Command> commands_;
  std::vector<const CLI::App*> like_run_;
  std::map<const CLI::App*, std::string> default_configs_;
  std::map<std::string, std::string> without_source_;  // sub-commands, with advice
  RunAction default_action_;
  std::function<int()> action_;
};

// Checks options that are valid alone but not together. `origin`: where they come from.
void check_workers(const ModelOptions& model, const Origin& origin);

}  // namespace lookout

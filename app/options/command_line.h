// The command line: flags of `run`, which are those of the program, and sub-commands.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
  void add_flag(const std::string& name, const Value& value, const std::string& help,
                const std::string& group = "Options");
  // The flag of a setting; `help`: empty for the setting's own.
  void add_flag(const Setting& setting, const std::string& help = "");
  template <typename Options>
  void add_flags_of(Options& options, std::initializer_list<const char*> keys) {
    for (const char* key : keys) add_flag(declared(options, key));
  }
  // --watch and --config. Before the typed values are set, `take` gets the options of the watch
  // that --watch names. `config`: as LikeRun::config.
  void add_watch_flags(ConfiguredWatch& watch, const std::string& config,
                       std::function<void(const RunOptions& options)> take);
  void add_positional(const std::string& name, const Value& value, const std::string& help,
                      bool required = false);

  // Whether `flag` was typed.
  bool has(const std::string& flag) const;

  // Lines for --help.
  void examples(const std::string& lines);

  // Checks the values together. Throws Error(kUsage).
  void check(std::function<void()> check) { check_ = std::move(check); }

 private:
  friend class CommandLine;

  struct Argument {
    // Sets the text that was typed. Throws Error whose sentence names the argument.
    std::function<void(const std::string&)> set;
    bool repeatable = false;
  };

  CLI::Option* add_option(const std::string& name, const Value& value, const std::string& help);
  // Sets the typed values in the order of the command line. Throws Error(kUsage).
  void set_values();

  CLI::App& app_;
  std::map<const CLI::Option*, Argument> arguments_;
  std::function<void()> check_ = [] {};
  // Of add_watch_flags().
  ConfiguredWatch* watch_ = nullptr;
  std::string config_;
  std::function<void(const RunOptions&)> take_;
};

struct Watch;

class CommandLine {
 public:
  using RunAction = std::function<int(const RunOptions&)>;

  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  struct LikeRun {
    std::string config;  // a file that is read when it exists and no other is named; empty: none
    std::string advice;  // what to do instead of naming a SOURCE; empty: the command takes one
    // The flags of `run` that do something here, besides --config and --set; empty: all.
    std::vector<std::string> flags;

    bool takes(const CLI::Option& option) const;
  };

  // A sub-command that takes the options of `run`; "mqtt forget" is one within another. The first
  // one is the default. The first line of the description stands in the list of commands. Returns
  // the command, for flags of its own; the reference stays valid.
  Command& add_like_run(const std::string& name, const std::string& description,
                        const RunAction& action, const LikeRun& how = {});

  // A sub-command with options of its own. The references stay valid.
  template <typename Options>
  std::pair<Command&, Options&> add(const std::string& name, const std::string& description,
                                    const std::function<int(const Options&)>& action) {
    const auto options = std::make_shared<Options>();
    return {add_command(name, description, [options, action] { return action(*options); }),
            *options};
  }

  // A sub-command without options that no page tells of.
  void add_hidden(const std::string& name, const std::function<int()>& action);

  // `arguments`: without the program's name. Runs what they ask for and returns its exit status;
  // `print` gets the text of --help and --version. Reads the environment and the file named by
  // --config for the options of `run`. Throws Error(kUsage) for the command line, Error(kConfig)
  // for the environment and the file, and the command's errors. `help WORD...` prints the page of
  // a command or of a section of the configuration file; `help reference` every key as Markdown.
  int run(const std::vector<std::string>& arguments,
          const std::function<void(std::string_view)>& print);

  // As Settings: what file, environment and command line say about the options of `run`.
  const std::map<std::string, std::string>& given() const { return settings_.given(); }

 private:
  Command& add_command(const std::string& name, const std::string& description,
                       const std::function<int()>& action);
  // The command `name`, which has others: "mqtt".
  CLI::App* group_of_commands(const std::string& name);
  void add_run_flags();

  // help.cpp
  std::string help() const;
  std::string help_about(const std::vector<std::string>& words) const;
  std::string top_page() const;
  std::string command_page(const CLI::App& app) const;
  std::string option_groups(const CLI::App& app) const;
  std::string keys_without_flags() const;
  std::string section_page(const std::string& section) const;
  std::string reference_page() const;
  std::vector<std::string> section_names() const;

  // usage_errors.cpp
  Error usage_error(const std::string& sentence) const;
  std::string needs_value(const std::string& sentence) const;
  std::string missing(const std::string& sentence) const;
  std::string unexpected() const;
  std::string meant_flag(const std::string& typed) const;
  std::vector<std::string> flags() const;
  void check_taken() const;
  void check_source(const std::string& source) const;

  void parse(std::vector<std::string> arguments);
  std::string config_path() const;
  std::string config_path(const CLI::Option& config, const std::string& otherwise) const;
  void take_watch(Command& command);
  void note_watches(const Command& command, const std::string& path);
  void set_typed(Command& command) const;
  void check_combinations() const;
  std::string effective(const Watch& watch, const std::string& key,
                        const std::string& otherwise) const;
  void check_region(const Watch& watch) const;
  void check_thresholds(const Watch& watch) const;
  int run_with_options(const RunAction& action);
  const CLI::App* chosen() const;
  // Null when the command has options of its own. `run` is itself without a name.
  const LikeRun* like_run(const CLI::App* app) const;
  bool has_own_options() const { return like_run(chosen()) == nullptr; }

  std::unique_ptr<CLI::App> owner_;
  CLI::App& app_;
  RunOptions options_;
  Settings settings_;
  std::string config_;  // the file
  Command root_{app_};
  std::deque<Command> commands_;
  std::map<const CLI::App*, LikeRun> like_run_;
  RunAction default_action_;
  std::function<int()> action_;
};

// "forget", or "mqtt forget".
std::string full_name(const CLI::App& app);
// The sub-commands of a command or the program that people use.
std::vector<const CLI::App*> commands_in(const CLI::App& app);

// Checks options that are valid alone but not together. `origin`: where they come from.
void check_workers(const ModelOptions& model, const Origin& origin);

}  // namespace lookout

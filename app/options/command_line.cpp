#include "app/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/options/config_file.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/error.h"

namespace lookout {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The heading of a section's options in --help: "Camera", "MQTT".
std::string heading(std::string section) {
  const bool is_short = section == "http" || section == "mqtt";
  for (char& c : section) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!is_short) break;
  }
  return section;
}

// The last of "-t,--timeout".
std::string long_name(const std::string& flag) {
  const auto comma = flag.rfind(',');
  return comma == std::string::npos ? flag : flag.substr(comma + 1);
}

Error given_twice(const std::string& flag) {
  return {ErrorKind::kUsage, flag + ": given twice, but it takes one value"};
}

// As did_you_mean(), also for the beginning of a name.
std::string suggest_command(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kMinBeginning = 3;
  const auto begun = std::find_if(names.begin(), names.end(), [&word](const std::string& name) {
    return word.size() >= kMinBeginning && name.rfind(word, 0) == 0;
  });
  return did_you_mean(begun == names.end() ? word : *begun, names, "{}");
}

// "N=10", in --help.
std::string option_text(const Value& value) {
  return value.placeholder + (value.default_text.empty() ? "" : "=" + value.default_text);
}

}  // namespace

CLI::Option* Command::bind(CLI::Option* option, const std::string& name, Value value) {
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  arguments_[option] = {name, std::move(value)};
  return option;
}

void Command::add_flag(const std::string& name, Value value, const std::string& help,
                       const std::string& group) {
  const bool is_switch = value.placeholder.empty();
  CLI::Option* option =
      is_switch ? app_.add_flag(name)->description(help) : app_.add_option(name)->description(help);
  if (!is_switch) option->option_text(option_text(value))->type_name(value.placeholder);
  bind(option->group(group), long_name(name), std::move(value));
}

void Command::add_positional(const std::string& name, Value value, const std::string& help,
                             bool required) {
  CLI::Option* option = app_.add_option(name)->description(help)->required(required);
  option->option_text(value.placeholder)->type_name(value.placeholder);  // of --model
  const bool repeatable = value.repeatable;
  bind(option, name, std::move(value));
  if (repeatable) option->expected(-1);  // one or more
}

void Command::add_flag_of(const Settings& settings, const std::string& section,
                          const std::string& key, const std::string& help) {
  const Setting* setting = settings.find(section, key);
  add_flag(setting->flag.empty() ? "--" + setting->key : setting->flag, setting->value,
           help.empty() ? setting->help : help, heading(section));
}

void Command::set_values() {
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* option : app_.parse_order()) {
    const auto argument = arguments_.find(option);
    if (argument == arguments_.end()) continue;
    const std::size_t times = seen[option]++;
    const std::string& typed = option->results().at(times);
    const auto& [name, value] = argument->second;
    if (times > 0 && !value.repeatable) {
      throw given_twice(option->get_name());
    }
    try {
      assign(value, typed);
    } catch (const Error& error) {
      throw Error(ErrorKind::kUsage, name.empty() ? error.what() : name + ": " + error.what());
    }
  }
}

void Command::examples(const std::string& lines) { app_.footer(lines); }

bool Command::has(const std::string& flag) const { return app_.count(flag) > 0; }

CommandLine::CommandLine()
    : owner_(std::make_unique<CLI::App>("Names what a camera sees.", "lookout")), app_(*owner_) {
  declare(settings_, options_);
  app_.require_subcommand(0, 1);  // so that `lookout run bench` watches a folder called bench
  app_.set_help_flag("-h,--help", "Show this");
  app_.set_version_flag("--version", "lookout " LOOKOUT_VERSION, "Show the version");
  root_.add_flag("--config", text(config_, "FILE"), "Configuration file (TOML)");
  root_.check([this] { check_combinations(); });
  add_run_flags();
  app_.footer(
      "lookout                                the first camera\n"
      "lookout test://all -t 10s              test patterns, without a camera\n"
      "lookout /dev/video0 --model garage.pt  with another model");
}

CommandLine::~CommandLine() = default;

void CommandLine::add_run_flags() {
  // A setting of the group, with the command line as its origin.
  const auto typed = [this](const Setting& setting, const std::string& name) {
    Value value = setting.value;
    value.set = [this, &setting, name](const std::string& text) {
      settings_.set(setting, text, {Origin::Place::kCommandLine, name});
      return true;
    };
    return value;
  };
  Value by_name;
  by_name.placeholder = "SECTION.KEY=VALUE";
  by_name.repeatable = true;
  by_name.set = [this](const std::string& text) {
    settings_.set_by_argument(text);
    return true;
  };
  root_.add_flag("--set", by_name, "Set any key of the configuration, also those without a flag");
  const Setting& source = *settings_.find("camera", "source");
  root_.add_positional("SOURCE", typed(source, "SOURCE"), source.help);
  for (const Setting& setting : settings_.all()) {
    if (setting.flag.empty()) continue;
    root_.add_flag(setting.flag, typed(setting, long_name(setting.flag)), setting.help,
                   heading(setting.section));
  }
  for (auto& [option, argument] : root_.arguments_) {
    if (option->get_name() != "--config") argument.name.clear();  // the origin has it
  }
}

// "forget", or "mqtt forget".
std::string CommandLine::full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const bool is_nested = parent != nullptr && parent->get_parent() != nullptr;
  return is_nested ? parent->get_name() + " " + app.get_name() : app.get_name();
}

// The sub-command; of "mqtt forget", forget in mqtt.
CLI::App* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  const auto space = name.find(' ');
  if (space == std::string::npos) return app_.add_subcommand(name, description);
  CLI::App* parent = app_.add_subcommand(name.substr(0, space), "Manage what is on an MQTT broker");
  parent->footer("");
  parent->fallthrough();
  parent->require_subcommand(1);
  return parent->add_subcommand(name.substr(space + 1), description);
}

Command& CommandLine::add_like_run(const std::string& name, const std::string& description,
                                   const RunAction& action, const std::string& config) {
  CLI::App* app = add_subcommand(name, description);
  default_configs_[app] = config;
  app->fallthrough();
  app->set_help_flag("-h,--help", "Show this");
  app->footer("");  // not the program's
  like_run_.push_back(app);
  if (!default_action_) default_action_ = action;
  Command& command = commands_.emplace_back(*app);
  app->callback([this, &command, action] {
    action_ = [this, &command, action] {
      set_typed(command);
      return run_with_options(action);
    };
  });
  return command;
}

Command& CommandLine::add(const std::string& name, const std::string& description) {
  CLI::App* app = app_.add_subcommand(name, description);
  app->footer("");  // not the program's
  Command& command = commands_.emplace_back(*app);
  app->callback([this, &command] {
    action_ = [this, &command] {
      set_typed(command);
      return command.action_();
    };
  });
  return command;
}

const CLI::App* CommandLine::chosen() const {
  const CLI::App* app = &app_;
  for (auto parsed = app->get_subcommands(); !parsed.empty(); parsed = app->get_subcommands()) {
    app = parsed.front();
  }
  return app;
}

// Whether the command takes other options than `run`.
bool CommandLine::has_own_options() const {
  const CLI::App* app = chosen();
  return app != &app_ && std::find(like_run_.begin(), like_run_.end(), app) == like_run_.end();
}

Error CommandLine::usage_error(const std::string& sentence) const {
  const std::string command = chosen() == &app_ ? "run" : full_name(*chosen());
  return {ErrorKind::kUsage, fmt::format("{}; see lookout {} --help", sentence, command)};
}

void CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ExtrasError&) {
    throw usage_error(unexpected());
  } catch (const CLI::ArgumentMismatch& error) {
    throw usage_error(one_line(needs_value(error.what())));
  } catch (const CLI::RequiredError& error) {
    throw usage_error(one_line(missing(error.what())));
  } catch (const CLI::ParseError& error) {
    throw usage_error(one_line(error.what()));
  }
  check_place();
}

void check_workers(const ModelOptions& model, const Origin& origin) {
  if (model.workers <= 1 || model.threads <= 1) return;
  throw origin.error("each of several workers computes with one thread: leave --threads out");
}

void CommandLine::check_combinations() const {
  for (const char* key : {"profile.op-by", "profile.op-sort", "profile.op-rows"}) {
    const Origin origin = settings_.origin({key});
    if (options_.profile.op_sampling > 0 || origin.place != Origin::Place::kCommandLine) continue;
    throw origin.error("the table of operators needs --set profile.op-sampling=N");
  }
  check_workers(options_.model, settings_.origin({"model.workers", "model.threads"}));
  if (options_.events.snapshot_when != SnapshotWhen::kChange &&
      options_.events.snapshot_on_change.empty()) {
    throw settings_.origin({"events.snapshot-when"})
        .error("pictures need a folder: --snapshot-on-change DIR");
  }
  check_thresholds();
}

void CommandLine::check_thresholds() const {
  const StateOptions state = state_options(options_);
  if (state.leave_threshold <= state.enter_threshold) return;
  const char* const entering =
      options_.state.enter_threshold ? "state.enter-threshold" : "results.threshold";
  const Origin enter = settings_.origin({entering});
  Origin leave = settings_.origin({"state.leave-threshold"});
  leave.place = std::max(leave.place, enter.place);  // whose mistake it is
  throw leave.error(fmt::format("{} is above {}, {}: a state would be left at once",
                                state.leave_threshold, enter.name.empty() ? entering : enter.name,
                                state.enter_threshold));
}

std::string CommandLine::config_path() const {
  const CLI::Option* config = app_.get_option("--config");
  if (config->count() > 1) throw usage_error(given_twice("--config").what());
  if (config->count() > 0) return config->results().back();
  const char* variable = std::getenv("LOOKOUT_CONFIG");
  if (variable != nullptr && *variable != '\0') return variable;
  const auto other = default_configs_.find(chosen());
  const bool is_there = other != default_configs_.end() && std::filesystem::exists(other->second);
  return is_there ? other->second : "";
}

// A word that names no file may be a command that is misspelt, and a model is no source.
void CommandLine::check_source(const std::string& source) const {
  std::error_code ignored;
  const std::string extension = std::filesystem::path(source).extension();
  const bool is_model =
      std::any_of(kEngines.begin(), kEngines.end(),
                  [&extension](const EngineRow& row) { return extension == row.suffix; });
  if (is_model && !std::filesystem::is_directory(source, ignored)) {
    throw usage_error(
        fmt::format("{0} is called as a model, not as a source: --model {0}", source));
  }
  const bool is_word = source.find('/') == std::string::npos;
  if (!is_word || std::filesystem::exists(source, ignored)) return;
  std::vector<std::string> names;
  for (const CLI::App* command :
       std::as_const(app_).get_subcommands(std::function<bool(const CLI::App*)>())) {
    names.push_back(command->get_name());
  }
  const std::string meant = suggest_command(source, names);
  if (meant.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("there is no command or file {}{}; see lookout --help", source, meant));
}

void CommandLine::set_typed(Command& command) const {
  try {
    command.set_values();
    command.check_();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    throw usage_error(error.what());
  }
}

int CommandLine::run_with_options(const RunAction& action) {
  const std::string path = config_path();
  if (!path.empty()) read_config_file(path, settings_);
  options_.config_file = path;
  options_.warnings = settings_.read_environment();
  set_typed(root_);
  if (chosen() == &app_ && root_.has("SOURCE")) check_source(options_.camera.source);
  const auto without = without_source_.find(full_name(*chosen()));
  if (without != without_source_.end() && root_.has("SOURCE")) {
    throw usage_error(fmt::format("{} takes no SOURCE: {}", without->first, without->second));
  }
  return action(options_);
}

int CommandLine::run(const std::vector<std::string>& arguments,
                     const std::function<void(std::string_view)>& print) {
  if (!arguments.empty() && arguments.front() == "help") {
    print(help_about({arguments.begin() + 1, arguments.end()}));
    return 0;
  }
  try {
    parse(arguments);
  } catch (const CLI::CallForVersion&) {
    print(app_.version() + "\n");
    return 0;
  } catch (const CLI::Success&) {
    print(help());
    return 0;
  }
  return action_ ? action_() : run_with_options(default_action_);
}

}  // namespace lookout

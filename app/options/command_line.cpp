#include "app/options/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "app/options/config_file.h"
#include "app/options/taught_watches.h"
#include "app/options/watches.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"

namespace lookout {
namespace {

// The heading of a section's options in --help: "Camera", "MQTT".
std::string heading(std::string section) {
  const bool is_short = section == "http" || section == "mqtt";
  const auto end = is_short ? section.end() : section.begin() + 1;
  std::transform(section.begin(), end, section.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return section;
}

Error given_twice(const std::string& flag) {
  return {ErrorKind::kUsage, flag + ": given twice, but it takes one value"};
}

// The edges of `region` and of the rectangles along one axis, from `first` on, in order.
std::vector<double> edges(const cv::Rect2d& region, const std::vector<cv::Rect2d>& rectangles,
                          double cv::Rect2d::*first, double cv::Rect2d::*size) {
  const double end = region.*first + region.*size;
  std::vector<double> all{region.*first, end};
  for (const cv::Rect2d& rectangle : rectangles) {
    for (const double edge : {rectangle.*first, rectangle.*first + rectangle.*size}) {
      all.push_back(std::clamp(edge, region.*first, end));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Which part of the region no rectangle covers, 0..1.
double uncovered(const cv::Rect2d& region, const std::vector<cv::Rect2d>& rectangles) {
  const auto xs = edges(region, rectangles, &cv::Rect2d::x, &cv::Rect2d::width);
  const auto ys = edges(region, rectangles, &cv::Rect2d::y, &cv::Rect2d::height);
  double area = 0;
  for (std::size_t i = 1; i < xs.size(); ++i) {
    for (std::size_t j = 1; j < ys.size(); ++j) {
      const cv::Point2d middle((xs[i - 1] + xs[i]) / 2, (ys[j - 1] + ys[j]) / 2);
      const bool is_covered = std::any_of(
          rectangles.begin(), rectangles.end(),
          [&middle](const cv::Rect2d& rectangle) { return rectangle.contains(middle); });
      if (!is_covered) area += (xs[i] - xs[i - 1]) * (ys[j] - ys[j - 1]);
    }
  }
  return area / region.area();
}

}  // namespace

CLI::Option* Command::add_option(const std::string& name, const Value& value,
                                 const std::string& help) {
  const bool is_flag = name.front() == '-';
  const bool is_switch = is_flag && value.placeholder.empty();
  CLI::Option* option = is_switch ? app_.add_flag(name) : app_.add_option(name);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  option->description(help);
  if (!is_switch) {
    const std::string initial = is_flag ? value.default_text : "";
    option->option_text(value.placeholder + (initial.empty() ? "" : "=" + initial));  // "N=10"
    option->type_name(value.placeholder);
  }
  const auto set = [value, option](const std::string& text) {
    try {
      assign(value, text);
    } catch (const Error& error) {
      throw Error(ErrorKind::kUsage, option->get_name() + ": " + error.what());
    }
  };
  arguments_[option] = {set, value.repeatable};
  return option;
}

void Command::add_flag(const std::string& name, const Value& value, const std::string& help,
                       const std::string& group) {
  add_option(name, value, help)->group(group);
}

void Command::add_flag(const Setting& setting, const std::string& help) {
  add_flag(setting.flag.empty() ? "--" + setting.key : setting.flag, setting.value,
           help.empty() ? setting.help : help, heading(setting.section));
}

void Command::add_watch_flags(ConfiguredWatch& watch, const std::string& config,
                              std::function<void(const RunOptions& options)> take) {
  add_flag("--watch", text(watch.name, "NAME"),
           "Take what [watch.NAME] of the configuration says where no flag says otherwise");
  add_flag("--config", text(watch.config_file, "FILE"),
           "The configuration with this watch; default: the service's");
  watch_ = &watch;
  config_ = config;
  take_ = std::move(take);
}

void Command::add_positional(const std::string& name, const Value& value, const std::string& help,
                             bool required) {
  CLI::Option* option = add_option(name, value, help)->required(required);
  if (value.repeatable) option->expected(-1);  // one or more
}

void Command::set_values() {
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* option : app_.parse_order()) {
    const auto argument = arguments_.find(option);
    if (argument == arguments_.end()) continue;
    const std::size_t times = seen[option]++;
    if (times > 0 && !argument->second.repeatable) throw given_twice(option->get_name());
    argument->second.set(option->results().at(times));
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

// The flags of settings, with the command line as the origin of their values.
void CommandLine::add_run_flags() {
  Value by_name;
  by_name.placeholder = "SECTION.KEY=VALUE";
  by_name.repeatable = true;
  root_.add_flag("--set", by_name, "Set any key of the configuration, also those without a flag");
  root_.arguments_[app_.get_option("--set")].set = [this](const std::string& text) {
    settings_.set_by_argument(text);
  };
  for (const Setting& setting : settings_.all()) {
    const bool is_source = setting.name() == "camera.source";
    if (setting.flag.empty() && !is_source) continue;
    if (is_source) {
      root_.add_positional("SOURCE", setting.value, setting.help);
    } else {
      root_.add_flag(setting);
    }
    const CLI::Option* option = app_.get_options().back();
    root_.arguments_[option].set = [this, &setting, option](const std::string& text) {
      settings_.set(setting, text, {Origin::Place::kCommandLine, option->get_name()});
    };
  }
}

CLI::App* CommandLine::group_of_commands(const std::string& name) {
  const auto with_name = [&name](CLI::App* app) { return app->get_name() == name; };
  const auto known = app_.get_subcommands(with_name);
  if (!known.empty()) return known.front();
  CLI::App* group =
      app_.add_subcommand(name, name == "mqtt" ? "Manage what is on an MQTT broker"
                                               : "Install models, and put the one before back");
  group->footer("")->fallthrough()->require_subcommand(1);
  return group;
}

Command& CommandLine::add_command(const std::string& name, const std::string& description,
                                  const std::function<int()>& action) {
  const auto space = name.find(' ');
  CLI::App* parent = &app_;
  if (space != name.npos) {
    parent = group_of_commands(name.substr(0, space));
  }
  CLI::App* app = parent->add_subcommand(name.substr(space + 1), description);
  app->footer("");  // not the program's
  Command& command = commands_.emplace_back(*app);
  app->callback([this, &command, action] {
    action_ = [this, &command, action] {
      if (command.watch_ != nullptr) take_watch(command);
      set_typed(command);
      return action();
    };
  });
  return command;
}

void CommandLine::add_hidden(const std::string& name, const std::function<int()>& action) {
  add_command(name, "", action).app_.group("");
}

Command& CommandLine::add_like_run(const std::string& name, const std::string& description,
                                   const RunAction& action, const LikeRun& how) {
  Command& command =
      add_command(name, description, [this, action] { return run_with_options(action); });
  command.app_.fallthrough();
  like_run_[&command.app_] = how;
  if (!default_action_) default_action_ = action;
  return command;
}

bool CommandLine::LikeRun::takes(const CLI::Option& option) const {
  if (option.get_positional()) return advice.empty();
  const std::string name = option.get_name();
  return flags.empty() || name == "--config" || name == "--set" ||
         std::find(flags.begin(), flags.end(), name) != flags.end();
}

const CLI::App* CommandLine::chosen() const {
  const CLI::App* app = &app_;
  for (auto parsed = app->get_subcommands(); !parsed.empty(); parsed = app->get_subcommands()) {
    app = parsed.front();
  }
  return app;
}

const CommandLine::LikeRun* CommandLine::like_run(const CLI::App* app) const {
  static const LikeRun run;
  const auto found = like_run_.find(app);
  if (found != like_run_.end()) return &found->second;
  return app == &app_ ? &run : nullptr;
}

void CommandLine::parse(std::vector<std::string> arguments) {
  const auto error_of = [this](std::string sentence) {
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    return usage_error(sentence);
  };
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ExtrasError&) {
    throw usage_error(unexpected());
  } catch (const CLI::ArgumentMismatch& error) {
    throw error_of(needs_value(error.what()));
  } catch (const CLI::RequiredError& error) {
    throw error_of(missing(error.what()));
  } catch (const CLI::ParseError& error) {
    throw error_of(error.what());
  }
  check_taken();
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
  for (const Watch& watch : watches_of(options_)) {
    check_region(watch);
    check_thresholds(watch);
  }
}

// The name of a watch's setting if that was set, else of the one that it is taken from.
std::string CommandLine::effective(const Watch& watch, const std::string& key,
                                   const std::string& otherwise) const {
  const std::string name = fmt::format("watch.{}.{}", watch.name, key);
  return settings_.origin({name.c_str()}).name.empty() ? otherwise : name;
}

void CommandLine::check_region(const Watch& watch) const {
  constexpr double kMinUncovered = 0.001;  // a sliver of a picture tells nothing
  const RunOptions& options = watch.options;
  if (uncovered(options.camera.view.roi, options.still.ignore) >= kMinUncovered) return;
  throw settings_.origin({"still.ignore", effective(watch, "roi", "camera.roi").c_str()})
      .error("the rectangles of still.ignore cover all that is classified: leave a part out");
}

void CommandLine::check_thresholds(const Watch& watch) const {
  const RunOptions& options = watch.options;
  const StateOptions state = state_options(options);
  if (state.leave_threshold <= state.enter_threshold) return;
  const std::string entering =
      effective(watch, "enter-threshold",
                options.state.enter_threshold ? "state.enter-threshold" : "results.threshold");
  const Origin enter = settings_.origin({entering.c_str()});
  const std::string leaving = effective(watch, "leave-threshold", "state.leave-threshold");
  Origin leave = settings_.origin({leaving.c_str()});
  leave.place = std::max(leave.place, enter.place);  // whose mistake it is
  throw leave.error(fmt::format("{} is above {}, {}: a state would be left at once",
                                state.leave_threshold, enter.name.empty() ? entering : enter.name,
                                state.enter_threshold));
}

std::string CommandLine::config_path() const {
  return config_path(*app_.get_option("--config"), like_run(chosen())->config);
}

std::string CommandLine::config_path(const CLI::Option& config,
                                     const std::string& otherwise) const {
  if (config.count() > 1) throw usage_error(given_twice("--config").what());
  if (config.count() > 0) return config.results().back();
  const char* variable = std::getenv("LOOKOUT_CONFIG");
  if (variable != nullptr && *variable != '\0') return variable;
  return std::filesystem::exists(otherwise) ? otherwise : "";
}

// Has the command take the options of the watch that --watch names.
void CommandLine::take_watch(Command& command) {
  const CLI::Option* flag = command.app_.get_option("--watch");
  const std::string path = config_path(*command.app_.get_option("--config"), command.config_);
  if (flag->count() == 0) {
    note_watches(command, path);
    return;
  }
  const std::string& name = flag->results().back();
  if (!path.empty()) read_config_file(path, settings_);
  command.watch_->notes = settings_.read_environment();
  std::map<std::string, std::string> given;
  const std::filesystem::path library = library_of_service(path);
  const std::vector<std::string> left_out = add_taught_watches(library, options_, given);
  std::vector<std::string> names;
  for (const Watch& watch : watches_of(options_)) {
    if (!watch.name.empty() && watch.name == name) return command.take_(watch.options);
    if (!watch.name.empty()) names.push_back(watch.name);
  }
  for (const std::string& sentence : left_out) {
    if (sentence.rfind(fmt::format("the taught watch {} ", name), 0) != 0) continue;
    throw Error(ErrorKind::kBadData, fmt::format("--watch {}: {}", name, sentence));
  }
  const std::string& config = path.empty() ? "the environment" : path;
  const bool is_closed = access(library.c_str(), R_OK | X_OK) != 0 && errno == EACCES;
  const std::string taught =
      is_closed ? fmt::format("; what was taught is in {}, which you may not read: use sudo",
                              library.string())
                : "";
  if (names.empty()) {
    throw usage_error(fmt::format("--watch {0}: there is no [watch.{0}] in {1}{2}{3}", name, config,
                                  path.empty() ? "; --config names a configuration" : "", taught));
  }
  throw usage_error(fmt::format("--watch {0}: there is no [watch.{0}] in {1}, but {2}{3}", name,
                                config, joined(names, ", "), taught));
}

// Says that watches see parts of the picture when the command is not told of any part. A
// configuration that is no good is told by what it is for.
void CommandLine::note_watches(const Command& command, const std::string& path) {
  const CLI::Option* roi = command.app_.get_option_no_throw("--roi");
  if (roi == nullptr || roi->count() > 0) return;
  try {
    if (!path.empty()) read_config_file(path, settings_);
    static_cast<void>(settings_.read_environment());
  } catch (const Error&) {
    return;
  }
  std::vector<std::string> names;
  for (const Watch& watch : watches_of(options_)) {
    const bool is_part = watch.options.camera.view.roi != View().roi;
    if (is_part && !watch.name.empty()) names.push_back(watch.name);
  }
  if (names.empty()) return;
  command.watch_->notes = {fmt::format(
      "whole pictures are taken, but {} watches parts of the picture: --watch {} takes that part",
      path.empty() ? "the environment" : path, joined(names, " or "))};
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
  options_.config_file = config_path();
  if (!options_.config_file.empty()) read_config_file(options_.config_file, settings_);
  options_.warnings = settings_.read_environment();
  set_typed(root_);
  if (chosen() == &app_ && root_.has("SOURCE")) check_source(options_.camera.source);
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

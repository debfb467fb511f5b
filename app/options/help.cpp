// The texts of --help and of `lookout help`, at most 80 columns wide.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "app/options/command_line.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kHelpColumn = 26;  // where the description of an option begins

// The words of `text` in lines that begin at `column`; the first line begins after `start`.
std::string wrapped(const std::string& start, const std::string& text, std::size_t column) {
  std::string lines;
  std::string line = start;
  if (start.size() + 2 > column && column > 0) {
    lines = start + "\n";
    line.clear();
  }
  line.resize(std::max(column, line.size()), ' ');
  bool is_empty = true;
  std::istringstream words(text);
  for (std::string word; words >> word; is_empty = false) {
    if (!is_empty && line.size() + 1 + word.size() > kHelpWidth) {
      lines += line + "\n";
      line.assign(column, ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
  }
  return lines + line + "\n";
}

// "-t, --timeout TIME=0"
std::string spelling(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string& value = option.get_option_text();
  return joined(names, ", ") + (value.empty() ? "" : " " + value);
}

// "SOURCE", "[SOURCE]" or "FILE..."
std::string usage_of(const CLI::Option& option) {
  const std::string name = option.get_name(/*positional=*/true);
  const std::string many = option.get_allow_extra_args() ? name + "..." : name;
  return option.get_required() ? many : "[" + many + "]";
}

std::string examples(const CLI::App& app) {
  std::string text;
  std::istringstream lines(app.get_footer());
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return text.empty() ? "" : "\nExample:\n" + text;
}

// Null when there is none.
const CLI::App* command_in(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : commands_in(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// The first line of its description.
std::string brief(const CLI::App& app) {
  return app.get_description().substr(0, app.get_description().find('\n'));
}

std::string command_list(const CLI::App& program) {
  constexpr std::size_t kColumn = 17;
  std::string text;
  for (const CLI::App* command : commands_in(program)) {
    const auto nested = commands_in(*command);
    const CLI::App* shown = nested.size() == 1 ? nested.front() : command;
    text += wrapped("  " + full_name(*shown), brief(*shown), kColumn);
  }
  return text;
}

}  // namespace

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const bool is_nested = parent != nullptr && parent->get_parent() != nullptr;
  return is_nested ? parent->get_name() + " " + app.get_name() : app.get_name();
}

std::vector<const CLI::App*> commands_in(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string CommandLine::top_page() const {
  const std::string sections = joined(section_names(), ", ");
  return "Usage: lookout [COMMAND] [SOURCE] [OPTION]...\n\n" + app_.get_description() + "\n" +
         examples(app_) + "\nCommands:\n" + command_list(app_) + "\nOptions:\n" +
         wrapped("  -h, --help", "Show this", kHelpColumn) +
         wrapped("  --version", "Show the version", kHelpColumn) + "\n" +
         wrapped("",
                 "lookout help COMMAND shows the options of a command, and lookout help SECTION "
                 "the keys of a section of the configuration file: " +
                     sections + ".",
                 0);
}

// The options of `app` in their groups; those of `run`, too, for a command that takes them.
std::string CommandLine::option_groups(const CLI::App& app) const {
  std::vector<std::pair<std::string, std::string>> groups{{"Arguments", ""}, {"Options", ""}};
  const auto add = [&](const CLI::Option& option, const std::string& name,
                       const std::string& line) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&name](const auto& group) { return group.first == name; });
    if (group == groups.end()) group = groups.insert(group, {name, ""});
    group->second += wrapped("  " + line, option.get_description(), kHelpColumn);
  };
  std::vector<const CLI::Option*> options = app.get_options();
  const LikeRun* run = like_run(&app);
  for (const CLI::Option* option : app_.get_options()) {
    const bool is_taken = run != nullptr && run->takes(*option);
    if (is_taken && option != app_.get_help_ptr()) options.push_back(option);
  }
  for (const CLI::Option* option : options) {
    if (option->get_group().empty() || option == app_.get_version_ptr()) continue;
    if (option->get_positional()) add(*option, "Arguments", option->get_name(/*positional=*/true));
    if (!option->get_lnames().empty()) add(*option, option->get_group(), spelling(*option));
  }
  std::string text;
  for (const auto& [name, lines] : groups) {
    if (!lines.empty()) text += fmt::format("\n{}:\n{}", name, lines);
  }
  return text;
}

std::string CommandLine::command_page(const CLI::App& app) const {
  const LikeRun* run = like_run(&app);
  std::string text = "Usage: lookout " + full_name(app);
  const bool takes_source = run != nullptr && run->advice.empty();
  for (const CLI::Option* option : (takes_source ? app_ : app).get_options()) {
    if (option->get_positional()) text += " " + usage_of(*option);
  }
  const auto nested = commands_in(app);
  text += (nested.empty() ? "" : " COMMAND") + std::string(" [OPTION]...\n\n");
  text += wrapped("", brief(app), 0);
  const std::string details = app.get_description().substr(brief(app).size());
  if (!details.empty()) text += "\n" + wrapped("", details, 0);
  text += examples(app) + (nested.empty() ? "" : "\nCommands:\n");
  for (const CLI::App* command : nested) {
    text += wrapped("  " + command->get_name(), brief(*command), kHelpColumn);
  }
  text += option_groups(app);
  return run != nullptr && run->flags.empty() ? text + keys_without_flags() : text;
}

std::string CommandLine::keys_without_flags() const {
  constexpr std::size_t kColumn = 12;
  std::string text =
      "\nKeys without a flag, for --set and the configuration file; lookout help camera\n"
      "describes those of [camera], and so on:\n";
  for (const std::string& section : section_names()) {
    std::string keys;
    for (const Setting& setting : settings_.all()) {
      const bool is_key = setting.flag.empty() && setting.name() != "camera.source";
      if (setting.section == section && is_key) keys += setting.key + " ";
    }
    if (!keys.empty()) text += wrapped("  " + section, keys, kColumn);
  }
  return text +
         "\nThe same settings in the three places, of which the first wins:\n"
         "  command line         --set results.top-k=3, or --top-k 3\n"
         "  environment          LOOKOUT_RESULTS_TOP_K=3\n"
         "  configuration file   [results] top-k = 3\n";
}

std::vector<std::string> CommandLine::section_names() const {
  std::vector<std::string> names;
  for (const Setting& setting : settings_.all()) {
    if (std::find(names.begin(), names.end(), setting.section) == names.end()) {
      names.push_back(setting.section);
    }
  }
  return names;
}

std::string CommandLine::section_page(const std::string& section) const {
  constexpr std::size_t kColumn = 6;
  std::string text =
      fmt::format("[{0}] in the configuration file; for one run: --set {0}.KEY=VALUE\n\n", section);
  for (const Setting& setting : settings_.all()) {
    if (setting.section != section) continue;
    const Value& value = setting.value;
    std::string name = "  " + setting.key;
    if (!value.default_text.empty()) name += "=" + value.default_text;
    if (!value.placeholder.empty()) name += "  " + value.placeholder;
    if (!setting.flag.empty()) name += "  (" + setting.flag + ")";
    text += name + "\n" + wrapped("", setting.help, kColumn);
  }
  return text;
}

// Every key as Markdown: app/reference.md is this text.
std::string CommandLine::reference_page() const {
  std::string text =
      "# Reference of all keys\n\n"
      "`lookout help reference` prints this page, which the program makes from its declarations.\n"
      "A key is set in its section of the configuration file, by its variable of the environment, "
      "by\n"
      "its flag, or by `--set SECTION.KEY=VALUE`.\n";
  const auto cell = [](std::string_view mark, const std::string& content) {
    return content.empty() ? " |" : fmt::format(" {0}{1}{0} |", mark, content);
  };
  for (const std::string& section : section_names()) {
    text += fmt::format("\n## `[{}]`\n\n", section) +
            "| key | flag | environment | value | default | what it does |\n"
            "| --- | --- | --- | --- | --- | --- |\n";
    for (const Setting& setting : settings_.all()) {
      if (setting.section != section) continue;
      const Value& value = setting.value;
      const bool is_text = value.expected == kAnyText;
      text += "|" + cell("`", setting.key) +
              cell("`", setting.name() == "camera.source" ? "SOURCE" : setting.flag) +
              cell("`", setting.variable()) +
              cell(is_text ? "`" : "", is_text ? value.placeholder : value.expected) +
              cell("`", value.default_text) + cell("", setting.help) + "\n";
    }
  }
  return text;
}

// What `lookout help WORD...` shows: the page of a command, of a section, or both.
std::string CommandLine::help_about(const std::vector<std::string>& words) const {
  if (words.empty()) return top_page();
  if (words == std::vector<std::string>{"reference"}) return reference_page();
  const CLI::App* app = &app_;
  for (const std::string& word : words) app = app == nullptr ? nullptr : command_in(*app, word);
  std::string section = words.front();
  if (settings_.is_repeated(section)) section += ".NAME";
  const bool is_section = words.size() == 1 && settings_.has_section(section);
  std::string text = app == nullptr ? "" : command_page(*app);
  if (is_section) text += (text.empty() ? "" : "\n") + section_page(section);
  if (!text.empty()) return text;
  std::vector<std::string> names = section_names();
  for (const CLI::App* command : commands_in(app_)) names.push_back(command->get_name());
  const std::string word = joined(words, " ");
  throw Error(ErrorKind::kUsage,
              fmt::format("there is no command or section {}{}; see lookout help", word,
                          did_you_mean(word, names, "{}")));
}

std::string CommandLine::help() const {
  const CLI::App* app = chosen();
  return app == &app_ ? top_page() : command_page(*app);
}

}  // namespace lookout

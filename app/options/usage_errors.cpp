// The sentences for what is wrong on a command line.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "app/options/command_line.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

// What is meant by the flags of other programs: `flag` where the command has it, else, for commands
// with the options of `run`, `key`.
struct Guess {
  std::string_view flag;
  std::string_view value;
  std::string_view key;
};

const std::map<std::string_view, Guess> kGuesses{
    {"fps", {"framerate", "N", "camera.framerate"}},
    {"rate", {"max-rate", "N", ""}},
    {"crop", {"roi", "X,Y,W,H", ""}},
    {"rotate", {"rotation", "90", "camera.rotation"}},
    {"flip", {"", "true", "camera.hflip"}},
    {"mirror", {"", "true", "camera.hflip"}},
    {"duration", {"timeout", "10s", ""}},
    {"weights", {"model", "FILE", ""}},
    {"classes", {"labels", "FILE", ""}},
    {"names", {"labels", "FILE", ""}},
    {"json", {"format", "json", ""}},
    {"html", {"report", "FILE.html", ""}},
    {"confidence", {"threshold", "N", ""}},
    {"conf", {"threshold", "N", ""}},
    {"score", {"threshold", "N", ""}},
    {"port", {"http", "127.0.0.1:8090", ""}},
    {"listen", {"http", "127.0.0.1:8090", ""}},
    {"broker", {"mqtt", "mqtt://HOST", ""}},
    {"quiet", {"log-level", "warn", ""}},
    {"verbose", {"log-level", "debug", ""}},
    {"debug", {"log-level", "debug", ""}},
};

bool is_source_guess(std::string_view word) {
  return word == "camera" || word == "input" || word == "source" || word == "video";
}

}  // namespace

Error CommandLine::usage_error(const std::string& sentence) const {
  const std::string command = chosen() == &app_ ? "run" : full_name(*chosen());
  return {ErrorKind::kUsage, fmt::format("{}; see lookout {} --help", sentence, command)};
}

// "--format needs a value: text|json"; CLI11's sentence begins with the flag.
std::string CommandLine::needs_value(const std::string& sentence) const {
  const std::string flag = sentence.substr(0, sentence.find(':'));
  for (const CLI::App* app : {chosen(), static_cast<const CLI::App*>(&app_)}) {
    const CLI::Option* option = app->get_option_no_throw(flag);
    if (option != nullptr)
      return fmt::format("{} needs a value: {}", flag, option->get_type_name());
  }
  return sentence;
}

// "model needs a command: lookout model install, back, list", or CLI11's sentence for a missing
// argument.
std::string CommandLine::missing(const std::string& sentence) const {
  const auto commands = commands_in(*chosen());
  if (commands.empty() || chosen() == &app_) return sentence;
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const std::string name = chosen()->get_name();
  const CLI::Option* source = app_.get_option("SOURCE");  // takes a word that is no command
  const std::string what = source->count() == 0
                               ? name + " needs a command"
                               : "there is no " + name + " " + source->results().front();
  return fmt::format("{}: lookout {} {}", what, name, joined(names, ", "));
}

// What a flag that does not exist stands for: a flag of this command, or a key that has none.
std::string CommandLine::meant_flag(const std::string& typed) const {
  const std::string word = typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  if (is_source_guess(word) && chosen()->get_option_no_throw("DIR") == nullptr) {
    return "; did you mean the argument SOURCE?";
  }
  const std::vector<std::string> names = flags();
  const auto guess = kGuesses.find(word);
  if (guess == kGuesses.end()) {
    const Setting* setting = has_own_options() ? nullptr : settings_.find_key(word);
    if (setting == nullptr) return did_you_mean(word, names, "--{}");
    const std::string& placeholder = setting->value.placeholder;
    return fmt::format("; did you mean --set {}={}?", setting->name(),
                       placeholder.empty() ? "true" : placeholder);
  }
  const auto& [flag, value, key] = guess->second;
  if (std::find(names.begin(), names.end(), flag) != names.end()) {
    return fmt::format("; did you mean --{} {}?", flag, value);
  }
  if (key.empty() || has_own_options()) return "";
  return fmt::format("; did you mean --set {}={}?", key, value);
}

std::string CommandLine::unexpected() const {
  std::vector<std::string> extras = chosen()->remaining();
  if (extras.empty()) extras = app_.remaining();
  if (extras.empty()) return "there is one argument too many";
  const std::string& extra = extras.front();
  if (extra.rfind('-', 0) == 0) return "there is no " + extra + meant_flag(extra);
  const CLI::Option* source = app_.get_option("SOURCE");
  if (chosen() == &app_ && source->count() > 0) check_source(source->results().front());
  return extra + ": one argument too many" +
         (has_own_options() ? "" : "; SOURCE is one camera, file or folder");
}

// The flags that may be given, without their dashes.
std::vector<std::string> CommandLine::flags() const {
  std::vector<const CLI::App*> owners{chosen()};
  if (owners.front() != &app_ && !has_own_options()) owners.push_back(&app_);
  std::vector<std::string> names;
  for (const CLI::App* owner : owners) {
    for (const CLI::Option* option : owner->get_options()) {
      const bool is_taken = owner != &app_ || like_run(chosen())->takes(*option);
      for (const std::string& name : option->get_lnames()) {
        if (!option->get_group().empty() && is_taken) names.push_back(name);
      }
    }
  }
  return names;
}

// Refuses options of `run` that the command would ignore.
void CommandLine::check_taken() const {
  const LikeRun* how = like_run(chosen());
  for (const CLI::Option* option : app_.parse_order()) {
    if (how == nullptr) {
      throw usage_error(fmt::format("{0}: {1} has options of its own, which stand after {1}",
                                    option->get_name(), chosen()->get_name()));
    }
    if (how->takes(*option)) continue;
    throw usage_error(fmt::format("{} takes no {}{}", full_name(*chosen()), option->get_name(),
                                  option->get_positional() ? ": " + how->advice : ""));
  }
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
  const bool is_word = source.find('/') == source.npos;
  if (!is_word || std::filesystem::exists(source, ignored)) return;
  std::vector<std::string> names;
  for (const CLI::App* command : commands_in(app_)) names.push_back(command->get_name());
  constexpr std::size_t kMinBeginning = 3;
  const auto begun = std::find_if(names.begin(), names.end(), [&source](const std::string& name) {
    return source.size() >= kMinBeginning && name.rfind(source, 0) == 0;
  });
  const std::string meant = did_you_mean(begun == names.end() ? source : *begun, names, "{}");
  if (meant.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("there is no command or file {}{}; see lookout --help", source, meant));
}

}  // namespace lookout

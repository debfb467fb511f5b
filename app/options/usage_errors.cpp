// The sentences for what is wrong on a command line.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/options/command_line.h"

namespace lookout {

// "--op-sort needs a value: self|total|memory|calls"; CLI11's sentence begins with the flag.
std::string CommandLine::needs_value(const std::string& sentence) const {
  const std::string flag = sentence.substr(0, sentence.find(':'));
  for (const CLI::App* app : {chosen(), static_cast<const CLI::App*>(&app_)}) {
    const CLI::Option* option = app->get_option_no_throw(flag);
    if (option != nullptr)
      return fmt::format("{} needs a value: {}", flag, option->get_type_name());
  }
  return sentence;
}

std::string CommandLine::unexpected() const {
  std::vector<std::string> extras = chosen()->remaining();
  if (extras.empty()) extras = app_.remaining();
  if (extras.empty()) return "there is one argument too many";
  const std::string& extra = extras.front();
  if (extra.rfind('-', 0) == 0) return "there is no " + extra + did_you_mean(extra, flags(), "{}");
  const CLI::Option* source = app_.get_option("SOURCE");
  if (chosen() == &app_ && source->count() > 0) check_source(source->results().front());
  return extra + ": one argument too many" +
         (has_own_options() ? "" : "; SOURCE is one camera, file or folder");
}

// The flags that may be given.
std::vector<std::string> CommandLine::flags() const {
  std::vector<const CLI::App*> owners{chosen()};
  if (owners.front() != &app_ && !has_own_options()) owners.push_back(&app_);
  std::vector<std::string> names;
  for (const CLI::App* owner : owners) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (!option->get_group().empty()) names.push_back("--" + name);
      }
    }
  }
  return names;
}

// Refuses options of `run` that stand before another command, which would ignore them.
void CommandLine::check_place() const {
  if (!has_own_options()) return;
  for (const CLI::Option* option : app_.parse_order()) {
    throw usage_error(fmt::format("{0}: {1} has options of its own, which stand after {1}",
                                  option->get_name(), chosen()->get_name()));
  }
}

}  // namespace lookout

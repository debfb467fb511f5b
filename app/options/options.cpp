#include "app/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "app/options/config_file.h"
#include "app/options/option_parts.h"
#include "pipeline/error.h"

namespace lookout {
namespace {

// The whole command line: the options of `run` are those of the program, so that `run` may be left
// out and the configuration file has no sections.
struct Declaration {
  CLI::App app{
      "Watches a camera and says what it sees.\n\n"
      "lookout [run] [SOURCE] [OPTIONS]   classify frames (the default)\n"
      "lookout inspect [MODEL]            tell what is in a model archive\n"
      "lookout doctor [OPTIONS]           tell why run would not start with these options\n"
      "lookout bench [SOURCE] [OPTIONS]   measure models, threads and workers on this machine\n"
      "lookout eval DIR [OPTIONS]         count how often a model is right\n"
      "lookout list-cameras [OPTIONS]     tell which cameras there are, and what they can\n"
      "lookout trace-summary FILE         tell where the time went in a trace",
      "lookout"};
  CLI::App* inspect = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* list_cameras = nullptr;
  CLI::App* bench = nullptr;
  CLI::App* eval = nullptr;
  CLI::App* trace_summary = nullptr;
  RunOptions run_options;
  InspectOptions inspect_options;
  BenchOptions bench_options;
  EvalOptions eval_options;
  TraceSummaryOptions trace_summary_options;
  std::string positional_source;
  std::string config;  // the file

  // `with_variables`: the help names them, and CLI11 looks at them, too.
  explicit Declaration(bool with_variables = false) {
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.set_help_flag("-h,--help", "Print this and exit");
    app.set_version_flag("--version", "lookout " LOOKOUT_VERSION, "Print the version and exit");
    app.add_option("--config", config, "TOML file with any of these options, less the --")
        ->type_name("FILE");
    app.add_option("--source", run_options.camera.source,
                   "A camera (/dev/video0, v4l2:///dev/video0, csi://0), a picture, a folder of "
                   "pictures, a video, or test://PATTERN|all?size=640x480&fps=30")
        ->type_name("SOURCE")
        ->capture_default_str();
    app.add_option("SOURCE", positional_source, "The same as --source")->type_name("");
    add_run_options(app, run_options);
    for (CLI::Option* option : app.get_options()) {
      if (with_variables && is_setting(*option)) option->envname(environment_name(*option));
    }

    inspect = app.add_subcommand("inspect", "Tell what is in a model archive");
    inspect->add_option("model,--model", inspect_options.model.file, "TorchScript archive")
        ->type_name("FILE");
    add_labels(*inspect, inspect_options.model.labels);
    add_format(*inspect, inspect_options.format);

    doctor = app.add_subcommand("doctor", "Tell why run would not start with these options");
    doctor->fallthrough();  // its options are those of run

    list_cameras =
        app.add_subcommand("list-cameras", "Tell which cameras there are, and what they can");
    list_cameras->fallthrough();

    bench = add_bench(app, bench_options);
    eval = add_eval(app, eval_options);
    trace_summary =
        app.add_subcommand("trace-summary", "Tell where the time went in a trace of --trace");
    trace_summary->add_option("file,--file", trace_summary_options.file, "A trace of --trace")
        ->required()
        ->type_name("FILE");
    add_format(*trace_summary, trace_summary_options.format);
  }

  // Sub-commands with options of their own: the one that was asked for, or else the program.
  const CLI::App& asked() const {
    for (const CLI::App* command : {inspect, bench, eval, trace_summary}) {
      if (command->parsed()) return *command;
    }
    return app;
  }

  // What `run` has, and was typed before such a sub-command, would be without effect there.
  void check_place() const {
    if (&asked() == &app) return;
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(
          option->get_name(),
          fmt::format("{0} has options of its own, which stand after {0}", asked().get_name()));
    }
  }

  static void check_workers(const RunOptions& options) {
    if (options.model.workers > 1 && options.model.threads > 1) {
      throw CLI::ValidationError(
          "--workers", "each of several workers computes with one thread: leave --threads out");
    }
  }

  static bool is_setting(const CLI::Option& option) {
    return !option.get_lnames().empty() && option.get_lnames()[0] != "help" &&
           option.get_lnames()[0] != "version";
  }

  static std::string environment_name(const CLI::Option& option) {
    std::string name = "LOOKOUT_" + option.get_lnames()[0];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return c == '-' ? '_' : static_cast<char>(std::toupper(c));
    });
    return name;
  }

  // As if they had been typed. CLI11's own way would let a file win over the environment.
  std::vector<std::string> environment() const {
    std::vector<std::string> arguments;
    for (const CLI::Option* option : app.get_options()) {
      const char* value =
          is_setting(*option) ? std::getenv(environment_name(*option).c_str()) : nullptr;
      if (value != nullptr && *value != '\0') {
        arguments.push_back(argument(option->get_lnames()[0], value));
      }
    }
    return arguments;
  }

  // The same of a file.
  std::vector<std::string> settings(const std::string& path) const {
    std::vector<std::string> arguments;
    for (const Setting& setting : read_config_file(path)) {
      const CLI::Option* option = app.get_option_no_throw("--" + setting.key);
      if (option == nullptr || !is_setting(*option) || setting.key == "config") {
        throw Error(
            ErrorKind::kConfig,
            fmt::format("configuration {}: there is no {}; see lookout --help", path, setting.key));
      }
      if (!setting.value.empty()) arguments.push_back(argument(setting.key, setting.value));
    }
    return arguments;
  }

  static std::string argument(const std::string& name, const std::string& value) {
    return fmt::format("--{}={}", name, value);
  }

  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
      app.parse(std::move(arguments));
    } catch (const std::out_of_range&) {  // of std::stoll, by which CLI11 reads a flag's value
      throw CLI::ConversionError("a flag is true or false, not a number that large");
    }
    check_place();
    if (!positional_source.empty()) run_options.camera.source = positional_source;
    check_workers(run_options);
    check_workers(eval_options.run);
    const StateOptions state = state_options(run_options);
    if (state.leave_threshold > state.enter_threshold) {
      throw CLI::ValidationError(
          "--leave-threshold",
          fmt::format("{} is above the threshold for entering, {}: a state would be left at once",
                      state.leave_threshold, state.enter_threshold));
    }
  }
};

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string one_sentence(const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// What is right without `more` is wrong because of it.
void parse_with(const std::vector<std::string>& more, const std::vector<std::string>& rest,
                const std::string& origin, Declaration& declaration) {
  try {
    declaration.parse(joined(more, rest));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::kConfig, origin + ": " + one_sentence(error));
  }
}

// Those of `typed_alone`, which parsed `typed`, and what the environment and the file say besides:
// of several values of an option the last counts, the typed one, or that of the environment, or
// that of the file.
RunOptions run_options(const std::vector<std::string>& typed, const Declaration& typed_alone) {
  RunOptions options = typed_alone.run_options;
  std::string path = typed_alone.config;
  const std::vector<std::string> environment = typed_alone.environment();
  if (!environment.empty()) {
    Declaration declaration;
    parse_with(environment, typed, "environment", declaration);
    options = declaration.run_options;
    path = declaration.config;
  }
  if (!path.empty()) {
    Declaration declaration;
    parse_with(declaration.settings(path), joined(environment, typed), "configuration " + path,
               declaration);
    options = declaration.run_options;
  }
  return options;
}

std::string help(const Declaration& declaration) {
  const bool of_command = !declaration.app.get_subcommands().empty();
  return of_command ? declaration.app.help() : Declaration(/*with_variables=*/true).app.help();
}

}  // namespace

Command parse_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> typed = arguments;
  if (!typed.empty() && typed[0] == "run") typed.erase(typed.begin());
  Declaration declaration;
  try {
    declaration.parse(typed);
  } catch (const CLI::CallForVersion&) {
    return PrintText{declaration.app.version() + "\n"};
  } catch (const CLI::Success&) {
    return PrintText{help(declaration)};
  } catch (const CLI::ParseError& error) {
    const CLI::App& asked = declaration.asked();
    const std::string command = asked.get_parent() == nullptr ? "" : asked.get_name() + " ";
    throw Error(ErrorKind::kUsage, one_sentence(error) + "; see lookout " + command + "--help");
  }
  if (declaration.inspect->parsed()) return declaration.inspect_options;
  if (declaration.bench->parsed()) return declaration.bench_options;
  if (declaration.eval->parsed()) return declaration.eval_options;
  if (declaration.trace_summary->parsed()) return declaration.trace_summary_options;
  RunOptions options = run_options(typed, declaration);
  if (declaration.list_cameras->parsed()) return ListCamerasOptions{std::move(options)};
  if (declaration.doctor->parsed()) return DoctorOptions{std::move(options)};
  return options;
}

StateOptions state_options(const RunOptions& options) {
  const double enter = options.state.enter_threshold.value_or(options.results.threshold);
  StateOptions state;
  state.smoothing = options.state.smoothing;
  state.enter_threshold = static_cast<float>(enter);
  state.leave_threshold = static_cast<float>(options.state.leave_threshold.value_or(enter));
  state.min_duration = options.state.min_duration;
  return state;
}

}  // namespace lookout

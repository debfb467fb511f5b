#include "app/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "app/option_parts.h"
#include "pipeline/error.h"
#include "pipeline/model_spec.h"

namespace lookout {
namespace {

// CLI11 takes an empty list for an option's value and then looks at its first element.
class ConfigFormat : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& file) const override {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML::from_config(file);
    for (const CLI::ConfigItem& item : items) {
      const bool section = item.name == "++" || item.name == "--";
      if (!section && item.inputs.empty()) throw CLI::ValidationError(item.name, "has no value");
    }
    return items;
  }
};

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

  explicit Declaration(bool with_config) {
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.set_help_flag("-h,--help", "Print this and exit");
    app.set_version_flag("--version", "lookout " LOOKOUT_VERSION, "Print the version and exit");
    app.config_formatter(std::make_shared<ConfigFormat>());
    app.allow_config_extras(CLI::config_extras_mode::error);
    const std::string config_help = "TOML file with any of these options, less the --";
    CLI::Option* config = with_config ? app.set_config("--config", "", config_help)
                                      : app.add_option("--config", config_help);
    config->type_name("FILE");
    app.add_option("--source", run_options.source,
                   "A camera (/dev/video0, v4l2:///dev/video0, csi://0), a picture, a folder of "
                   "pictures, a video, or test://PATTERN|all?size=640x480&fps=30")
        ->type_name("SOURCE")
        ->capture_default_str();
    app.add_option("SOURCE", positional_source, "The same as --source")->type_name("");
    add_run_options(app, run_options);
    for (CLI::Option* option : app.get_options()) {
      if (with_config && is_setting(*option)) option->envname(environment_name(*option));
    }

    inspect = app.add_subcommand("inspect", "Tell what is in a model archive");
    inspect->add_option("model,--model", inspect_options.model, "TorchScript archive")
        ->type_name("FILE");
    add_labels(*inspect, inspect_options.labels);
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

  static void check_workers(const RunOptions& options) {
    if (options.workers > 1 && options.threads > 1) {
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

  // CLI11 would let the file win over the environment, so variables are put before the arguments as
  // if they had been typed: of two values the last one counts.
  std::vector<std::string> environment() const {
    std::vector<std::string> arguments;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_envname().empty()) continue;
      const char* value = std::getenv(option->get_envname().c_str());
      if (value != nullptr && *value != '\0')
        arguments.push_back("--" + option->get_lnames()[0] + "=" + value);
    }
    return arguments;
  }

  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
    if (!positional_source.empty()) run_options.source = positional_source;
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

bool parses(const std::vector<std::string>& arguments) {
  try {
    Declaration(/*with_config=*/false).parse(arguments);
    return true;
  } catch (const CLI::ParseError&) {
    return false;
  }
}

std::string one_sentence(const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Command parse_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> typed = arguments;
  if (!typed.empty() && typed[0] == "run") typed.erase(typed.begin());
  Declaration declaration(/*with_config=*/true);
  try {
    declaration.parse(joined(declaration.environment(), typed));
  } catch (const CLI::CallForVersion&) {
    return PrintText{declaration.app.version() + "\n"};
  } catch (const CLI::Success&) {
    return PrintText{declaration.app.help()};  // or that of the sub-command that was asked for
  } catch (const CLI::ParseError& error) {
    // What is right without the environment and the file is wrong because of them.
    if (parses(typed)) {
      throw Error(ErrorKind::kConfig, "configuration: " + one_sentence(error));
    }
    const CLI::App& asked = declaration.asked();
    const std::string command = asked.get_parent() == nullptr ? "" : asked.get_name() + " ";
    throw Error(ErrorKind::kUsage, one_sentence(error) + "; see lookout " + command + "--help");
  }
  if (declaration.inspect->parsed()) return declaration.inspect_options;
  if (declaration.bench->parsed()) return declaration.bench_options;
  if (declaration.eval->parsed()) return declaration.eval_options;
  if (declaration.trace_summary->parsed()) return declaration.trace_summary_options;
  if (declaration.list_cameras->parsed()) return ListCamerasOptions{declaration.run_options};
  if (declaration.doctor->parsed()) return DoctorOptions{declaration.run_options};
  return declaration.run_options;
}

StateOptions state_options(const RunOptions& options) {
  const double enter = options.enter_threshold.value_or(options.threshold);
  StateOptions state;
  state.smoothing = options.smoothing;
  state.enter_threshold = static_cast<float>(enter);
  state.leave_threshold = static_cast<float>(options.leave_threshold.value_or(enter));
  state.min_duration = options.min_duration;
  return state;
}

std::filesystem::path model_path(const std::string& option) {
  if (!option.empty()) return option;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "share/lookout";
  const std::filesystem::path chosen_at_build = folder / "default.pt";
  return std::filesystem::exists(chosen_at_build) ? chosen_at_build : folder / kSelftestModel;
}

std::optional<std::vector<std::string>> read_labels(const std::string& option) {
  if (option.empty()) return std::nullopt;
  errno = 0;
  std::ifstream file(option, std::ios::binary);
  if (!file || std::filesystem::is_directory(option)) {
    throw Error(errno == EACCES ? ErrorKind::kPermission : ErrorKind::kNoInput,
                "labels " + option + " cannot be read");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return parse_labels(text);
  } catch (const Error& error) {
    throw Error(error.kind(), option + ": " + error.what());
  }
}

}  // namespace lookout

#include "app/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "app/option_parts.h"
#include "pipeline/error.h"
#include "pipeline/model_spec.h"
#include "platform/process.h"

namespace lookout {
namespace {

const std::map<std::string, Results> kResults{
    {"auto", Results::kAuto}, {"all", Results::kAll}, {"changes", Results::kChanges}};
const std::map<std::string, Wait> kWaits{
    {"auto", Wait::kAuto}, {"yes", Wait::kYes}, {"no", Wait::kNo}};

void add_camera_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Camera";
  add_picture_options(app, options);
  app.add_option("--wait-for-camera", options.wait_for_camera,
                 "Wait for a camera that is not there at the start, instead of ending; auto: when "
                 "started by systemd")
      ->transform(CLI::CheckedTransformer(kWaits).description("auto|yes|no"))
      ->default_str("auto")
      ->group(group);
  add_time(
      app, "--give-up-after",
      [&options](auto time) { options.source_options.give_up_after = time; },
      "End when a camera is not there, or not back, after this time; 0: wait for ever")
      ->group(group);
  app.add_option("--capture-priority", options.capture.realtime_priority,
                 "Real-time priority (SCHED_FIFO, 1..99) of the thread that reads the camera; 0: "
                 "an ordinary thread")
      ->check(CLI::Range(0, 99).description(""))
      ->capture_default_str()
      ->group(group);
  constexpr int kMostCpu = 1023;  // of CPU_SET(3)
  add_numbers(app, "--capture-cpus", options.capture.cpus, 0, kMostCpu, "processors",
              "Processors that this thread may run on, as in 2,3; without it all")
      ->group(group);
  app.add_option("--name", options.name, "The camera's name in results")->group(group);
}

}  // namespace

void add_model_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Model";
  app.add_option(
         "--model", options.model,
         "TorchScript archive; without it the installed one: by default the self-test model, "
         "which knows only the patterns of test://all")
      ->type_name("FILE")
      ->group(group);
  add_labels(app, options.labels)->group(group);
  app.add_option("--threads", options.threads,
                 "Threads that share each frame's computation, at most: one while other programs "
                 "want the processors; auto: measured at the start")
      ->transform(
          CLI::Transformer(std::map<std::string, std::string>{{"auto", "0"}}).description("auto|N"))
      ->check(CLI::Range(0, 64).description(""))
      ->default_str("auto")
      ->type_name("")
      ->group(group);
  app.add_option("--workers", options.workers,
                 "Frames classified side by side, each by one thread with a copy of the model: a "
                 "higher rate, but none of them is ready sooner")
      ->check(CLI::Range(1, 64).description(""))
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
}

namespace {

void add_state_options(CLI::App& app, RunOptions& options) {
  const std::string group = "States";
  add_time(
      app, "--smoothing", [&options](auto time) { options.smoothing = time; },
      "Smooth the scores of all classes: each follows the frames' exponentially and has gone 63 % "
      "of the way after this time; 0: not")
      ->group(group);
  app.add_option("--enter-threshold", options.enter_threshold,
                 "Smoothed score, 0..1, from which the best class is the state; below it the state "
                 "is unknown; without it that of --threshold")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->group(group);
  app.add_option("--leave-threshold", options.leave_threshold,
                 "Smoothed score, 0..1, below which a class that is the state stops being it; "
                 "without it that of --enter-threshold")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->group(group);
  add_time(
      app, "--min-duration", [&options](auto time) { options.min_duration = time; },
      "Time for which a new state has to last before it is one")
      ->group(group);
  app.add_option_function<std::string>(
         "--on-change",
         [&options](const std::string& text) {
           try {
             options.on_change.clear();
             if (!text.empty()) options.on_change = split_command(text);
           } catch (const Error& error) {
             throw CLI::ValidationError("--on-change", error.what());
           }
         },
         "Run this when the state changes, with LOOKOUT_EVENT_STATE and more in its environment; "
         "split into words as by a shell, but run without one")
      ->type_name("CMD")
      ->group(group);
  add_time(
      app, "--on-change-timeout", [&options](auto time) { options.on_change_timeout = time; },
      "Kill the command and what it started after this time", "10s")
      ->check(CLI::PositiveNumber.description(""))
      ->group(group);
  app.add_option(
         "--snapshot-on-change", options.snapshot_on_change,
         "Write the frame into this folder, as JPEG, when the state changes; the command of "
         "--on-change has its path in LOOKOUT_EVENT_SNAPSHOT")
      ->type_name("DIR")
      ->group(group);
  add_time(
      app, "--snapshot-cooldown", [&options](auto time) { options.snapshot_cooldown = time; },
      "Shortest time between two snapshots", "10s")
      ->group(group);
  app.add_option("--snapshot-limit", options.snapshot_limit,
                 "Size of all snapshots together (500KB, 100MB, 2GB): the oldest are removed")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
      ->check(CLI::PositiveNumber.description(""))
      ->default_str("100MB")
      ->type_name("SIZE")
      ->group(group);
}

void add_result_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Results";
  app.add_option("--top-k", options.top_k, "Predictions a frame, at most")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--threshold", options.threshold, "Leave out predictions with a lower score, 0..1")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->capture_default_str()
      ->group(group);
  add_format(app, options.format)->group(group);
  app.add_option("--results", options.results,
                 "Write all of them, or those that change the state; auto: changes in the systemd "
                 "journal, else all")
      ->transform(CLI::CheckedTransformer(kResults).description("auto|all|changes"))
      ->default_str("auto")
      ->group(group);
  app.add_flag("--overlay,!--no-overlay", options.overlay,
               "Show the picture with its predictions in a window, too; keys: q quits, space stops "
               "the picture, s saves it in the current folder")
      ->group(group);
  add_time(
      app, "--stats-interval", [&options](auto time) { options.stats_interval = time; },
      "Time between statistics; auto: 1s, in the systemd journal 1min")
      ->transform(
          CLI::Transformer(std::map<std::string, std::string>{{"auto", "0"}}).description("auto|"))
      ->default_str("auto")
      ->group(group);
  add_time(
      app, "-t,--timeout", [&options](auto time) { options.timeout = time; },
      "End after this time: 10s, 5min, 1h, or milliseconds; 0: never")
      ->group(group);
  add_log_level(app, options.log_level)->group(group);
}

// Less often LibTorch cannot draw lots; more often is no share.
std::string check_sampling(const std::string& text) {
  constexpr double kLeast = 1e-6;
  double share = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  const bool number = error == std::errc() && end == text.data() + text.size();
  const bool right = number && (share == 0 || (share >= kLeast && share <= 1));
  return right ? "" : "expected a share of calls from 0.000001 to 1, or 0: none";
}

void add_profiling_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Where the time goes";
  app.add_option("--op-sampling", options.op_sampling,
                 "Measure this share, 0..1, of the calls of LibTorch's operators; the table is "
                 "logged at the end and on SIGUSR1")
      ->check(CLI::Validator(check_sampling, ""))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--op-shapes,!--no-op-shapes", options.op_shapes,
               "Tell calls with inputs of different shapes apart")
      ->group(group);
  app.add_option("--trace", options.trace,
                 "Write what every thread did with some frames, for ui.perfetto.dev and lookout "
                 "trace-summary")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--trace-frames", options.trace_frames,
                 "How many frames; a camera's first 10 are left out")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str()
      ->group(group);
}

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
    add_camera_options(app, run_options);
    add_model_options(app, run_options);
    add_result_options(app, run_options);
    add_state_options(app, run_options);
    add_profiling_options(app, run_options);
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

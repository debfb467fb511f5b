// The sub-commands with their flags.
#include "app/options/commands.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/options/settings.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/error.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr int kMaxThreads = 64;
constexpr int kMaxWorkers = 64;

// "p99.5", "40ms" or "1.5s".
std::optional<OutlierRule> parse_outliers(std::string_view text) {
  OutlierRule rule;
  if (text.substr(0, 1) == "p") {
    const auto percentile = parse_number<double>(text.substr(1));
    if (!percentile || !(*percentile > 0 && *percentile <= 100)) return std::nullopt;
    rule.percentile = *percentile;
    return rule;
  }
  for (const auto& [unit, ns] : {std::pair("ms", 1e6), std::pair("s", 1e9)}) {
    const std::size_t length = std::string_view(unit).size();
    if (text.size() <= length || text.substr(text.size() - length) != unit) continue;
    const auto number = parse_number<double>(text.substr(0, text.size() - length));
    constexpr double kMaxNs = 1e15;
    if (!number || !(*number > 0 && *number * ns <= kMaxNs)) continue;
    rule.time = std::chrono::nanoseconds(std::llround(*number * ns));
    return rule;
  }
  return std::nullopt;
}

Value outlier_rule(OutlierRule& member) {
  Value value = parsed(member, "a percentile or a time, as in p99, p99.5, 40ms or 1.5s",
                       "PERCENTILE|TIME", parse_outliers);
  value.default_text = fmt::format("p{:g}", member.percentile);
  return value;
}

Error usage(const std::string& sentence) { return {ErrorKind::kUsage, sentence}; }

void add_sha256(Command& command, ModelOptions& options, const std::string& what) {
  command.add_flag("--sha256", declared(options, "sha256").value,
                   "Accept only " + what + " with one of these SHA-256 hashes");
}

void check_bench(BenchOptions& options, bool has_timeout) {
  if (options.workers.empty()) options.workers = {1};
  if (options.still && options.camera.source == BenchOptions().camera.source) {
    options.camera.source = BenchOptions::kStillScene;
  }
  if (options.frames > 0 && !has_timeout) options.camera.timeout = std::chrono::seconds(0);
  if (options.frames == 0 && options.camera.timeout.count() == 0) {
    throw usage("--timeout 0: --frames N is needed, or nothing ends it");
  }
}

void check_eval(const EvalOptions& options) {
  const std::string& file = options.output;
  if (file == "logits" || file == "probabilities" || file == "sigmoid") {
    throw usage(
        fmt::format("--output names the file for the results: --model-output {0} says what "
                    "the model gives, --output ./{0} is a file",
                    file));
  }
  check_workers(options.model, {Origin::Place::kCommandLine, "--workers"});
}

void check_label(const std::string& label) {
  if (label.empty()) throw usage("--label is required: what the pictures show");
  if (label.find('/') != label.npos || label.front() == '.') {
    throw usage("--label " + label +
                ": a label becomes the name of a folder: it has no '/', and no '.' at its start");
  }
}

// A command of `lookout model`, and where it puts what is typed. `flags`: as LikeRun::flags.
std::pair<Command&, ModelCommandOptions&> add_model_command(
    CommandLine& line, const std::string& name, const std::string& description,
    const ModelAction& action, const std::vector<std::string>& flags = {"--model", "--log-level"}) {
  const auto options = std::make_shared<ModelCommandOptions>();
  Command& command =
      line.add_like_run("model " + name,
                        description +
                            "\nThe file is the one that model.file, or the model of the watch, "
                            "names. The configuration of the service is read if it exists and "
                            "--config names no other file.",
                        [action, options](const RunOptions& run) { return action(run, *options); },
                        {kServiceConfig, "it is about models", flags});
  command.add_flag("--watch",
                   parsed(options->watch, "a name", "NAME",
                          [](const std::string& text) { return std::optional(text); }),
                   "Of [watch.NAME]; default: the one model that the configuration has");
  return {command, *options};
}

}  // namespace

void add_run(CommandLine& line, const CommandLine::RunAction& action) {
  line.add_like_run("run", "Classify frames (the default command)", action)
      .examples(
          "lookout run /dev/video0 --model garage.pt --http 127.0.0.1:8090\n"
          "lookout run pictures/ --format json > results.json");
}

void add_serve(CommandLine& line, const CommandLine::RunAction& action) {
  constexpr const char* kAddress = "127.0.0.1:8090";  // without one of the user's
  line.add_like_run("serve", "Classify pictures that clients send over HTTP, without a camera",
                    [action](RunOptions options) {
                      options.camera.source = "none";
                      if (options.http.address.empty()) options.http.address = kAddress;
                      return action(options);
                    },
                    {"", "lookout run SOURCE --http 127.0.0.1:8090 does both", {}})
      .examples("lookout serve --model mobilenet_v2.pt --http 127.0.0.1:8090");
}

void add_mqtt_forget(CommandLine& line,
                     const std::function<int(const RunOptions&, bool all_machines)>& action) {
  const auto all_machines = std::make_shared<bool>(false);
  Command& forget = line.add_like_run(
      "mqtt forget",
      "Remove a camera from the MQTT broker and from Home Assistant\n"
      "The camera is that of camera.name, or the only one of this machine. The configuration of "
      "the service is read if it exists and --config names no other file.",
      [action, all_machines](const RunOptions& options) { return action(options, *all_machines); },
      {kServiceConfig, "name the camera with --set camera.name=NAME", {"--mqtt", "--log-level"}});
  forget.examples("lookout mqtt forget --set camera.name=garage");
  forget.add_flag("--all-machines", boolean(*all_machines),
                  "Also remove what other machines left under this name: a board that is gone, or "
                  "this one before it was set up again");
}

void add_model_install(CommandLine& line, const ModelAction& action) {
  const auto [install, options] = add_model_command(
      line, "install", "Put a model in the place of the one that is used", action);
  install.examples(
      "sudo lookout model install garage.head\n"
      "sudo lookout model install gate.head --watch gate");
  install.add_positional("FILE", text(options.file, "FILE"),
                         "An archive or a head. It is tried first, as the service's user",
                         /*required=*/true);
}

void add_model_back(CommandLine& line, const ModelAction& action) {
  const auto [back, options] =
      add_model_command(line, "back", "Put the model that was used before back", action);
  back.examples("sudo lookout model back");
  back.add_positional("HASH", text(options.hash, "HASH"),
                      "The beginning of a SHA-256 of lookout model list; default: the one before");
}

void add_model_list(CommandLine& line, const ModelAction& action) {
  const auto [list, options] =
      add_model_command(line, "list", "Show the models that were installed", action,
                        {"--model", "--format", "--log-level"});
  list.examples("lookout model list");
}

void add_reload(CommandLine& line, const CommandLine::RunAction& action) {
  line.add_like_run("reload",
                    "Have the service read its configuration again\n"
                    "It tells what came of it. The service is that of the configuration: "
                    "/etc/lookout/lookout.toml unless "
                    "--config names another file there. A run that is no service reads its own "
                    "again after kill -USR2 PID.",
                    action, {kServiceConfig, "it is about the service", {"--log-level"}})
      .examples(
          "sudo lookout reload\n"
          "sudo lookout reload --config /etc/lookout/front.toml");
}

void add_password(CommandLine& line,
                  const std::function<int(const RunOptions&, const PasswordOptions&)>& action) {
  const auto options = std::make_shared<PasswordOptions>();
  Command& password = line.add_like_run(
      "password",
      "Set the password with which owners log in to the page\n"
      "It is asked for twice, or read as one line from stdin that is no terminal. Its hash is "
      "written beside the configuration, as lookout.password, or where http.password-file says. "
      "The configuration of the service is read if it exists and --config names no other file.",
      [action, options](const RunOptions& run) { return action(run, *options); },
      {kServiceConfig, "it is about a password", {"--log-level"}});
  password.examples(
      "sudo lookout password\n"
      "sudo lookout password --config /etc/lookout/front.toml");
  password.add_flag("--remove", boolean(options->remove),
                    "Remove the password: nobody can log in, nor is logged in any more");
}

void add_setup(CommandLine& line, const std::vector<SetupFlag>& flags,
               const Action<SetupOptions>& action) {
  const auto [setup, options] = line.add(
      "setup",
      "Set up the service: camera, model, Home Assistant, page\n"
      "It asks seven questions at most, tries each answer, and starts the service. Run again, it "
      "proposes the last answers. An option answers its question.",
      action);
  setup.examples(
      "sudo lookout setup\n"
      "sudo lookout setup --yes --camera csi://0 --broker homeassistant.local");
  for (const SetupFlag& flag : flags) {
    Value value;
    value.expected = kAnyText;
    value.placeholder = flag.placeholder;
    value.set = [&answers = options.answers, key = flag.key](const std::string& text) {
      answers[key] = text;
      return text.find('\0') == text.npos;
    };
    setup.add_flag(flag.flag, value, flag.help);
  }
  setup.add_flag("--yes", boolean(options.yes), "Ask nothing: take the proposals");
  setup.add_flag("--show", boolean(options.show), "Show what is set up, and change nothing");
  setup.add_flag("--undo", boolean(options.undo), "Remove what setup made, and nothing else");
  setup.add_flag("--root", text(options.root, "DIR"), "", /*group=*/"");  // hidden
  setup.check([&options = options] {
    if (options.show && options.undo) throw usage("--show and --undo do not go together");
    const bool answers = options.yes || !options.answers.empty();
    if (answers && options.show) throw usage("--show takes no answers");
    if (answers && options.undo) throw usage("--undo takes no answers");
  });
}

void add_doctor(CommandLine& line,
                const std::function<int(const RunOptions&, const DoctorOptions&)>& action,
                const std::string& config) {
  const auto options = std::make_shared<DoctorOptions>();
  Command& doctor = line.add_like_run(
      "doctor",
      "Check whether run would start, and explain problems\n"
      "It takes the options of run. The configuration of the service is read if it "
      "exists and --config names no other file; --config '' reads none.",
      [action, options](const RunOptions& run) { return action(run, *options); }, {config, "", {}});
  doctor.examples(
      "lookout doctor\n"
      "lookout doctor /dev/video0 --model garage.pt\n"
      "sudo lookout doctor --bundle report.tar.gz");
  doctor.add_flag(
      "--bundle", text(options->bundle, "FILE"),
      "Write what helps others to find a problem into one file, .tar.gz, with passwords "
      "and tokens masked, and list what is in it; -: to stdout");
  doctor.add_flag("--service", boolean(options->service),
                  "Judge the configuration as the service would see it, wherever its file lies");
}

void add_list_cameras(CommandLine& line, const CommandLine::RunAction& action) {
  line.add_like_run("list-cameras",
                    "List the cameras, and the mode that run would choose\n"
                    "It takes the options of run.",
                    action)
      .examples("lookout list-cameras --set camera.width=1280");
}

void add_inspect(CommandLine& line, const Action<InspectOptions>& action) {
  const auto [inspect, options] =
      line.add("inspect", "Describe a model file, without running it", action);
  inspect.examples(
      "lookout inspect garage.pt\n"
      "lookout inspect garage.pt --run");
  inspect.add_positional("MODEL,--model", declared(options.model, "file").value,
                         "Model file, TorchScript or ONNX, or a head; default: the installed one");
  inspect.add_flags_of(options.model, {"base", "labels", "input-size", "mean", "std", "channels",
                                       "scale", "output"});
  inspect.add_flag(
      "--operators", declared(options.model, "operators").value,
      "With --run: libraries with custom operators that the model needs. A library is code that "
      "runs with your rights");
  inspect.add_flag(
      "--run", boolean(options.run),
      "Also load and run the model, to tell its parameters and kernels. Loading a model "
      "runs code: do so only with a model that you trust");
  inspect.add_flag("--code", boolean(options.code),
                   "Show the code of a TorchScript archive instead, without running it");
  inspect.add_flag("--graph", boolean(options.graph),
                   "Show the nodes of an ONNX model instead, without running it");
  inspect.add_flag(
      "--device", declared(options.model, "device").value,
      "Also run one frame on a custom device, to tell which operators it takes and which fall "
      "back to the CPU; meter: to tell what the model costs. This runs the model, as --run does");
  for (const char* key : {"device-plugin", "device-fallback"}) {
    const Setting setting = declared(options.model, key);
    inspect.add_flag("--" + setting.key, setting.value, setting.help);
  }
  inspect.add_flag("--format", format_value(options.format), "How the report is written");
}

void add_trace_summary(CommandLine& line, const Action<TraceSummaryOptions>& action) {
  const auto [summary, options] =
      line.add("trace-summary", "Show where the time went in a trace of --trace", action);
  summary.examples("lookout trace-summary trace.json --report trace.html");
  summary.add_positional("FILE", repeated_files(options.files),
                         "A file that --trace wrote, or one that PyTorch's profiler exported; "
                         "several, as of several boards, are shown side by side",
                         /*required=*/true);
  summary.add_flag("--format", format_value(options.format), "How the summary is written");
  summary.add_flag(
      "--outliers-above", outlier_rule(options.outliers),
      "From which time on a frame counts as unusually slow; the summary shows what took longer "
      "in such frames");
  summary.add_flag(
      "--compare", boolean(options.compare),
      "With two files, before and after a change: which stages and operators are slower, "
      "faster, added or gone, with intervals");
  summary.add_flag("--report", report_file(options.html, {".html"}),
                   "Also write the summary as a page with charts");
}

void add_history(CommandLine& line, const Action<HistoryViewOptions>& action) {
  const auto [history, options] = line.add(
      "history", "Show what the state was, and since when\nIt reads the folder of history.folder.",
      action);
  history.examples(
      "lookout history\n"
      "lookout history --show changes --from 7d --format csv");
  history.add_positional("DIR", text(options.folder, "DIR"),
                         "The folder of the history; default: the service's, "
                         "/var/lib/lookout/history");
  history.add_flag("--show",
                   choice<HistoryView>(options.view, {{"state", HistoryView::kNow},
                                                      {"changes", HistoryView::kChanges},
                                                      {"hours", HistoryView::kHours}}),
                   "The state at a time; its changes, of which the first one may lie before the "
                   "time that is shown; or how long each state lasted in each hour");
  history.add_flag("--from", text(options.from, "TIME"),
                   "First time to show: 2026-11-21, 2026-11-21T12:00 (with a Z: UTC), 15min or 7d "
                   "ago, or seconds since 1970; default: a day before the last");
  history.add_flag("--to", text(options.to, "TIME"), "Last time to show; default: now");
  history.add_flag("--watch",
                   parsed(options.watch, "a name", "NAME",
                          [](const std::string& text) { return std::optional(text); }),
                   "What was watched; default: all");
  history.add_flag("--format",
                   choice<TableFormat>(options.format, {{"text", TableFormat::kText},
                                                        {"json", TableFormat::kJson},
                                                        {"csv", TableFormat::kCsv}}),
                   "How it is written; times are local in text, UTC in CSV");
}

void add_bench(CommandLine& line, const Action<BenchOptions>& action) {
  const auto [bench, options] =
      line.add("bench", "Measure the speed of models, threads and workers", action);
  bench.examples("lookout bench --model mobilenet_v2.pt --report bench.html");
  bench.add_positional("SOURCE", declared(options.camera, "source").value,
                       "As for run. The first frames of files are read beforehand and replayed "
                       "as fast as they are classified");
  bench.add_flag("--model", repeated_files(options.models), "Model to measure; may be repeated");
  Value threads =
      numbers(options.threads, 1, kMaxThreads, "threads", ClassifierOptions::kAutoThreads);
  threads.default_text = "1,2,4 as far as there are processors";
  bench.add_flag("--threads", threads,
                 "Threads per inference, each number in turn; auto: measured at the start");
  bench.add_flag("--workers", numbers(options.workers, 1, kMaxWorkers, "workers"),
                 "Frames classified at the same time, each number in turn, with one thread each");
  bench.add_flag("--frames", number(options.frames, 0, 1e9),
                 "End each measurement after this many frames; 0: by its time");
  bench.add_flag("--pace", number(options.pace, 0.1, 1000),
                 "Replay files and test patterns at this rate, frames a second, to measure what a "
                 "camera costs; default: as fast as they are classified");
  bench.add_flag("--still", boolean(options.still),
                 "Also measure what a scene costs in which nothing moves: five pairs of 3 s (or of "
                 "--frames), without and with results that are reused; SOURCE is a still test "
                 "pattern and --pace 30 unless they are given");
  add_sha256(bench, options.model, "model files");
  bench.add_flag("--combination", number(options.combination, 0, 1e6), "", /*group=*/"");  // hidden
  bench.add_flag("--report", report_file(options.report, {".html", ".md"}),
                 "Also write a report with what is needed to compare the figures: FILE.html with "
                 "charts, FILE.md as Markdown");
  bench.add_flag(declared(options.camera, "timeout"),
                 "End each measurement after this time; 0: by its frames");
  bench.add_flags_of(options.model,
                     {"base", "labels", "operators", "device", "device-plugin", "device-fallback",
                      "input-size", "mean", "std", "channels", "scale", "output"});
  bench.add_flags_of(options.results, {"format"});
  bench.add_flags_of(options.log, {"level"});
  bench.add_flags_of(options.camera, {"width", "height", "framerate", "rotation", "roi"});
  bench.check(
      [&bench = bench, &options = options] { check_bench(options, bench.has("--timeout")); });
}

void add_eval(CommandLine& line, const Action<EvalOptions>& action, const std::string& config) {
  const auto [eval, options] =
      line.add("eval", "Measure the accuracy of a model on labelled pictures", action);
  eval.examples("lookout eval pictures --model garage.pt --report eval.html");
  eval.add_positional("DIR", text(options.folder, "DIR"),
                      "Folder with a folder of pictures for each class, named by its label, its "
                      "index, or WordNet's number and label (n01443537_goldfish)",
                      /*required=*/true);
  eval.add_flag("--labels-csv", text(options.labels_csv, "FILE"),
                "Lines of file,label instead; files are relative to DIR");
  eval.add_flags_of(options.model, {"file", "base", "labels", "operators", "threads", "workers",
                                    "input-size", "mean", "std", "channels", "scale"});
  Setting kind = declared(options.model, "output");
  kind.flag = "--model-output";
  eval.add_flag(kind);
  add_sha256(eval, options.model, "a model file");
  eval.add_flags_of(options.camera, {"rotation", "roi"});
  eval.add_watch_flags(options.watch, config,
                       [&eval = eval, &options = options](const RunOptions& watch) {
                         options.camera.view = watch.camera.view;
                         if (!eval.has("--model")) options.model = watch.model;
                       });
  eval.add_flags_of(options.results, {"format"});
  eval.add_flag("--output", text(options.output, "FILE"), "Also write the results as JSON");
  eval.add_flag("--report", report_file(options.report, {".html"}),
                "Also write a page with charts and the worst classes' pictures, FILE.html");
  eval.add_flags_of(options.log, {"level"});
  eval.check([&options = options] { check_eval(options); });
}

void add_train(CommandLine& line, const Action<TrainOptions>& action, const std::string& config) {
  const auto [train, options] = line.add("train", "Make a model for classes of your own", action);
  options.model.threads = 1;
  train.examples("lookout train garage -o garage.pt --report garage.html");
  train.add_positional("DIR", text(options.folder, "DIR"),
                       "Folder with a folder of pictures for each class, named by its label, and "
                       "perhaps _other: pictures of none of them",
                       /*required=*/true);
  train.add_flag("-o,--output", text(options.output, "FILE"),
                 "The model to write, and beside it NAME.head, the same without the base; of "
                 "NAME.head this alone");
  train.add_flag("--labels-csv", text(options.labels_csv, "FILE"),
                 "Lines of file,label instead; files are relative to DIR");
  train.add_flag("--other", text(options.other, "DIR"),
                 "Pictures of none of the classes: the threshold of \"unknown\" is chosen with "
                 "them, and how many become unknown is told");
  train.add_flag(declared(options.model, "file"),
                 "The base: a model whose last layer is replaced; default: that of the package "
                 "lookout-base, else the model of run");
  train.add_flags_of(options.model,
                     {"input-size", "mean", "std", "channels", "scale", "operators"});
  add_sha256(train, options.model, "a base");
  train.add_flag("--mirror", boolean(options.mirror),
                 "Mirrored pictures are of the same class: train with these, too");
  train.add_flag("--equal", choice(options.equal_classes, {{"classes", true}, {"pictures", false}}),
                 "What weighs the same in the training: pictures make the model prefer classes "
                 "that have more of them");
  train.add_flag("--threads", number(options.model.threads, 1, kMaxThreads),
                 "Threads that the base computes with");
  train.add_flags_of(options.camera, {"rotation", "roi"});
  train.add_watch_flags(options.watch, config, [&options = options](const RunOptions& watch) {
    options.camera.view = watch.camera.view;
    if (watch.model.base.empty()) return;
    options.model.file = watch.model.base;
    options.model.operators = watch.model.operators;
  });
  train.add_flags_of(options.results, {"format"});
  train.add_flag("--report", report_file(options.report, {".html"}),
                 "Also write a page with charts and the most doubtful pictures, FILE.html");
  train.add_flags_of(options.log, {"level"});
  train.check([&options = options] {
    if (options.output.empty()) throw usage("-o FILE is required: the model to write");
  });
}

void add_taught_commands(CommandLine& line, const std::function<int()>& train,
                         const std::function<int()>& preview) {
  line.add_hidden("train-taught", train);
  line.add_hidden("preview-taught", preview);
}

void add_collect(CommandLine& line, const Action<CollectOptions>& action,
                 const std::string& config) {
  const auto [collect, options] = line.add("collect", "Take pictures to train with", action);
  collect.examples("lookout collect /dev/video0 garage --label open -t 1min");
  collect.add_positional("SOURCE", declared(options.camera, "source").value, "As for run",
                         /*required=*/true);
  collect.add_positional("DIR", text(options.folder, "DIR"),
                         "Folder of the classes' folders; it is created if its parent exists",
                         /*required=*/true);
  collect.add_flag("--label", text(options.label, "LABEL"),
                   "What the pictures show: they are written into DIR/LABEL");
  collect.add_flag("--every", time_value(options.every),
                   "Time between two pictures; 0: each frame");
  collect.add_flag("--keep-similar", boolean(options.keep_similar),
                   "Also keep a picture that looks like the one before");
  collect.add_flags_of(options.camera, {"timeout", "width", "height", "framerate"});
  collect.add_watch_flags(options.watch, config, [&options = options](const RunOptions& watch) {
    options.camera.view = watch.camera.view;
    options.camera.name = watch.camera.name;
    options.camera.source_options = watch.camera.source_options;
  });
  collect.add_flags_of(options.log, {"level"});
  collect.check([&options = options] { check_label(options.label); });
}

}  // namespace lookout

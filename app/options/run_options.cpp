// The options of `run`, which are also those of the program and of the configuration file.
#include <charconv>
#include <map>
#include <string>

#include "app/options/option_parts.h"
#include "pipeline/error.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

const std::map<std::string, Results> kResults{
    {"auto", Results::kAuto}, {"all", Results::kAll}, {"changes", Results::kChanges}};
const std::map<std::string, Wait> kWaits{
    {"auto", Wait::kAuto}, {"yes", Wait::kYes}, {"no", Wait::kNo}};

void add_camera_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Camera";
  add_picture_options(app, options);
  app.add_option("--wait-for-camera", options.camera.wait,
                 "Wait for a camera that is not there at the start, instead of ending; auto: when "
                 "started by systemd")
      ->transform(CLI::CheckedTransformer(kWaits).description("auto|yes|no"))
      ->default_str("auto")
      ->group(group);
  add_time(
      app, "--give-up-after",
      [&options](auto time) { options.camera.source_options.give_up_after = time; },
      "End when a camera is not there, or not back, after this time; 0: wait for ever")
      ->group(group);
  app.add_option("--capture-priority", options.camera.capture.realtime_priority,
                 "Real-time priority (SCHED_FIFO, 1..99) of the thread that reads the camera; 0: "
                 "an ordinary thread")
      ->check(CLI::Range(0, 99).description(""))
      ->capture_default_str()
      ->group(group);
  constexpr int kMostCpu = 1023;  // of CPU_SET(3)
  add_numbers(app, "--capture-cpus", options.camera.capture.cpus, 0, kMostCpu, "processors",
              "Processors that this thread may run on, as in 2,3; without it all")
      ->group(group);
  app.add_option("--name", options.camera.name, "The camera's name in results")->group(group);
}

void add_state_options(CLI::App& app, RunOptions& options) {
  const std::string group = "States";
  add_time(
      app, "--smoothing", [&options](auto time) { options.state.smoothing = time; },
      "Smooth the scores of all classes: each follows the frames' exponentially and has gone 63 % "
      "of the way after this time; 0: not")
      ->group(group);
  app.add_option("--enter-threshold", options.state.enter_threshold,
                 "Smoothed score, 0..1, from which the best class is the state; below it the state "
                 "is unknown; without it that of --threshold")
      ->check(number_within(0, 1))
      ->group(group);
  app.add_option("--leave-threshold", options.state.leave_threshold,
                 "Smoothed score, 0..1, below which a class that is the state stops being it; "
                 "without it that of --enter-threshold")
      ->check(number_within(0, 1))
      ->group(group);
  add_time(
      app, "--min-duration", [&options](auto time) { options.state.min_duration = time; },
      "Time for which a new state has to last before it is one")
      ->group(group);
  app.add_option_function<std::string>(
         "--on-change",
         [&options](const std::string& text) {
           try {
             options.events.on_change.clear();
             if (!text.empty()) options.events.on_change = split_command(text);
           } catch (const Error& error) {
             throw CLI::ValidationError("--on-change", error.what());
           }
         },
         "Run this when the state changes, with LOOKOUT_EVENT_STATE and more in its environment; "
         "split into words as by a shell, but run without one")
      ->type_name("CMD")
      ->group(group);
  add_time(
      app, "--on-change-timeout",
      [&options](auto time) { options.events.on_change_timeout = time; },
      "Kill the command and what it started after this time", "10s", std::chrono::milliseconds(1))
      ->group(group);
  app.add_option(
         "--snapshot-on-change", options.events.snapshot_on_change,
         "Write the frame into this folder, as JPEG, when the state changes; it is made if only "
         "its parent is there; the command of --on-change has the picture's path in "
         "LOOKOUT_EVENT_SNAPSHOT")
      ->type_name("DIR")
      ->group(group);
  add_time(
      app, "--snapshot-cooldown",
      [&options](auto time) { options.events.snapshot_cooldown = time; },
      "Shortest time between two snapshots", "10s")
      ->group(group);
  app.add_option("--snapshot-limit", options.events.snapshot_limit,
                 "Size of all snapshots together (500KB, 100MB, 2GB): the oldest are removed")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
      ->check(number_within(1))
      ->default_str("100MB")
      ->type_name("SIZE")
      ->group(group);
}

void add_result_options(CLI::App& app, RunOptions& options) {
  const std::string group = "Results";
  app.add_option("--top-k", options.results.top_k, "Predictions a frame, at most")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--threshold", options.results.threshold,
                 "Leave out predictions with a lower score, 0..1")
      ->check(number_within(0, 1))
      ->capture_default_str()
      ->group(group);
  add_format(app, options.results.format)->group(group);
  app.add_option("--results", options.results.write,
                 "Write all of them, or those that change the state; auto: changes in the systemd "
                 "journal, else all")
      ->transform(CLI::CheckedTransformer(kResults).description("auto|all|changes"))
      ->default_str("auto")
      ->group(group);
  app.add_flag("--overlay,!--no-overlay", options.results.overlay,
               "Show the picture with its predictions in a window, too; keys: q quits, space stops "
               "the picture, s saves it in the current folder")
      ->group(group);
  add_time(
      app, "--stats-interval", [&options](auto time) { options.log.stats_interval = time; },
      "Time between statistics; auto: 1s, in the systemd journal 1min")
      ->transform(
          CLI::Transformer(std::map<std::string, std::string>{{"auto", "0"}}).description(""))
      ->default_str("auto")
      ->type_name("auto|TIME")
      ->group(group);
  add_time(
      app, "-t,--timeout", [&options](auto time) { options.camera.timeout = time; },
      "End after this time: 10s, 5min, 1h, or milliseconds; 0: never")
      ->group(group);
  add_log_level(app, options.log.level)->group(group);
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
  app.add_option("--op-sampling", options.profile.op_sampling,
                 "Measure this share, 0..1, of the calls of LibTorch's operators; the table is "
                 "logged at the end and on SIGUSR1")
      ->check(CLI::Validator(check_sampling, ""))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--op-shapes,!--no-op-shapes", options.profile.op_shapes,
               "Tell calls with inputs of different shapes apart")
      ->group(group);
  app.add_option("--trace", options.profile.trace,
                 "Write what every thread did with some frames, for ui.perfetto.dev and lookout "
                 "trace-summary")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--trace-frames", options.profile.trace_frames,
                 "How many frames; a camera's first 10 are left out")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  add_camera_options(app, options);
  add_model_options(app, options);
  add_result_options(app, options);
  add_state_options(app, options);
  add_profiling_options(app, options);
}

}  // namespace lookout

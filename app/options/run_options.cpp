// The settings of `run`, and the sub-commands that take them.
#include <utility>

#include "app/options/commands.h"
#include "app/options/options.h"
#include "app/options/settings.h"
#include "platform/sources/source_uri.h"

namespace lookout {
namespace {

constexpr int kMaxCpu = 1023;            // of CPU_SET(3)
constexpr double kMaxPixels = 1U << 30;  // OpenCV's limit

std::vector<std::pair<std::string, int>> rotations() {
  return {{"0", 0}, {"90", 90}, {"180", 180}, {"270", 270}};
}

// The part of [camera] that says which picture a source delivers.
void declare_picture(Settings& settings, CameraOptions& options) {
  const std::string section = "camera";
  SourceOptions& source = options.source_options;
  settings.add(
      section, "width", number(source.width, 16, 8192),
      "Width to request from the camera, in pixels; default: the smallest that the model can use");
  settings.add(section, "height", number(source.height, 16, 8192),
               "Height to request from the camera, in pixels");
  settings.add(section, "framerate", number(source.framerate, 0.1, 1000),
               "Frames per second to request; default: 30");
  Value rotation = choice(options.view.rotation, rotations());
  rotation.accepted = {TomlType::kInteger};
  settings.add(section, "rotation", rotation, "Turn the picture clockwise, in degrees",
               "--rotation");
  settings.add(section, "hflip", boolean(options.view.hflip),
               "Mirror left and right, after turning");
  settings.add(section, "vflip", boolean(options.view.vflip),
               "Mirror top and bottom, after turning");
  settings.add(section, "roi", region(options.view.roi),
               "Classify only this part of the picture: x,y,width,height from 0 to 1", "--roi");
}

std::vector<std::pair<std::string, std::string>> white_balance_choices() {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const std::string& name : white_balances()) choices.emplace_back(name, name);
  return choices;
}

// The part of [camera] for CSI cameras, whose names are those of rpicam-apps.
void declare_controls(Settings& settings, CameraControls& controls) {
  const std::string section = "camera";
  Value flicker = choice<int>(controls.flicker, {{"off", 0}, {"50", 50}, {"60", 60}});
  flicker.accepted.push_back(TomlType::kInteger);
  settings.add(
      section, "flicker", flicker,
      "For CSI cameras: expose so that lamps on mains of this frequency (Hz) do not flicker");
  settings.add(section, "shutter", number(controls.shutter, 1, 1e9),
               "Exposure time of a CSI camera in microseconds; default: automatic");
  settings.add(section, "gain", number(controls.gain, 0, 1000),
               "Analogue gain of a CSI camera; default: automatic");
  settings.add(section, "awb", choice(controls.awb, white_balance_choices()),
               "White balance of a CSI camera");
  settings.add(section, "awb-gains", number_pair(controls.awb_gains),
               "Gains of red and blue of a CSI camera, instead of its white balance");
  settings.add(section, "lens-position", number(controls.lens_position, 0, 100),
               "Focus of a CSI camera in dioptres, 0: infinity; default: continuous autofocus");
}

// The part of [camera] for files and streams.
void declare_files(Settings& settings, SourceOptions& source) {
  const std::string section = "camera";
  settings.add(section, "live", boolean(source.live),
               "For streams (- or a FIFO): classify the newest frame and drop older ones, instead "
               "of classifying every frame");
  settings.add(section, "recursive", boolean(source.recursive),
               "For folders: also classify the pictures in their folders");
  settings.add(section, "max-pixels", number(source.max_pixels, 1, kMaxPixels),
               "Refuse larger pictures and videos before they are decoded");
}

// The part of [camera] for cameras on the network.
void declare_network(Settings& settings, SourceOptions& source) {
  const std::string section = "camera";
  settings.add(section, "credentials", text(source.credentials, "FILE"),
               "File whose first line is USER:PASSWORD for a network camera, so that they need not "
               "be in its address");
  settings.add(section, "rtsp-transport",
               choice<bool>(source.rtsp_udp, {{"tcp", false}, {"udp", true}}),
               "Transport of RTSP cameras");
}

// The part of [model] about how a model sees pictures, which a file of another program may not say.
void declare_stated(Settings& settings, StatedModel& stated) {
  const std::string section = "model";
  settings.add(section, "input-size", input_size(stated.size),
               "Size of the model's input in pixels; default: what the model says, else 224x224",
               "--input-size");
  settings.add(section, "mean", numbers_of_channels(stated.normalisation.mean, false),
               "Mean of each channel, in the model's order; default: the model's, else ImageNet's",
               "--mean");
  settings.add(section, "std", numbers_of_channels(stated.normalisation.std, true),
               "Deviation of each channel; default: the model's, else ImageNet's", "--std");
  settings.add(section, "channels",
               choice<std::optional<ChannelOrder>>(
                   stated.channels, {{"rgb", ChannelOrder::kRgb}, {"bgr", ChannelOrder::kBgr}}),
               "Order of the channels; default: the model's, else rgb", "--channels");
  settings.add(
      section, "scale",
      choice<std::optional<PixelScale>>(stated.normalisation.scale,
                                        {{to_text(PixelScale::kUnit), PixelScale::kUnit},
                                         {to_text(PixelScale::kBytes), PixelScale::kBytes},
                                         {to_text(PixelScale::kSigned), PixelScale::kSigned}}),
      "Range of pixels, before mean and deviation; alone: without these", "--scale");
  settings.add(
      section, "output",
      choice<std::optional<ModelOutput>>(
          stated.output, {{to_text(ModelOutput::kLogits), ModelOutput::kLogits},
                          {to_text(ModelOutput::kProbabilities), ModelOutput::kProbabilities},
                          {to_text(ModelOutput::kSigmoid), ModelOutput::kSigmoid}}),
      "What the model gives: logits, probabilities that exclude each other, or sigmoid: those that "
      "do not; default: measured",
      "--output");
}

}  // namespace

void declare(Settings& settings, CameraOptions& options) {
  const std::string section = "camera";
  settings.add(section, "source", source(options.source),
               "What to classify: " + source_help() +
                   ". Default: auto, the first CSI camera, else the first USB camera");
  settings.add(section, "name", text(options.name, "TEXT"),
               "The camera's name in results; default: the source's name");
  declare_picture(settings, options);
  declare_controls(settings, options.source_options.controls);
  declare_files(settings, options.source_options);
  declare_network(settings, options.source_options);
  settings.add(section, "timeout", time_value(options.timeout),
               "End after this time: 500ms, 10s, 5min, 1h; 0: never", "-t,--timeout");
  settings.add(
      section, "wait",
      choice<Wait>(options.wait, {{"auto", Wait::kAuto}, {"yes", Wait::kYes}, {"no", Wait::kNo}}),
      "Wait for a camera that is absent at the start, instead of ending; auto: when "
      "started by systemd");
  settings.add(section, "give-up-after", time_value(options.source_options.give_up_after),
               "End when a camera has been absent for this time; 0: never");
  settings.add(section, "capture-priority", number(options.capture.realtime_priority, 0, 99),
               "Real-time priority (SCHED_FIFO) of the thread that reads the camera; 0: an "
               "ordinary thread");
  settings.add(section, "capture-cpus", numbers(options.capture.cpus, 0, kMaxCpu, "processors"),
               "Processors that this thread may run on, as in 2,3; empty: all");
}

void declare(Settings& settings, ModelOptions& options) {
  const std::string section = "model";
  settings.add(
      section, "file", text(options.file, "FILE"),
      "Model file, TorchScript (.pt) or ONNX (.onnx); default: the installed one, usually the "
      "self-test model, which knows only the patterns of test://all",
      "--model");
  settings.add(
      section, "labels", text(options.labels, "FILE"),
      "File with one label a line, or a JSON or YAML file of names, instead of the model's own",
      "--labels");
  declare_stated(settings, options.stated);
  settings.add(section, "sha256", hashes(options.sha256),
               "Accept only model files with one of these SHA-256 hashes (sha256sum). Loading a "
               "model runs code: load only models that you trust");
  settings.add(
      section, "operators", files(options.operators),
      "Libraries with custom operators that the model needs. A library is code that runs with "
      "your rights");
  settings.add(section, "threads", number_or_auto(options.threads, 1, 64),
               "Maximum threads per inference (fewer under load), or auto: measured at the start",
               "--threads");
  settings.add(section, "workers", number(options.workers, 1, 64),
               "Frames classified at the same time, each by one thread with its own copy of the "
               "model: a higher rate, but the same latency");
  settings.add(section, "device", text(options.device.name, "NAME"),
               "Compute on a custom device, which a plug-in adds to LibTorch (2.1 or later); meter "
               "measures what models cost");
  settings.add(section, "device-plugin", text(options.device.plugin, "FILE"),
               "Library of the custom device; default: liblookout-NAME.so beside the engine");
  settings.add(section, "device-fallback", fallback_value(options.device.forbid_fallback),
               "Whether operators without a kernel for the custom device may run on the CPU");
}

void declare(Settings& settings, ResultOptions& options) {
  const std::string section = "results";
  settings.add(section, "format", format_value(options.format), "How results are written",
               "--format");
  settings.add(
      section, "write",
      choice<Results>(
          options.write,
          {{"auto", Results::kAuto}, {"all", Results::kAll}, {"changes", Results::kChanges}}),
      "Write all results, or only those that change the state; auto: changes in the systemd "
      "journal, else all");
  settings.add(section, "top-k", number(options.top_k, 1, 1000), "Maximum predictions per frame",
               "--top-k");
  settings.add(section, "threshold", number(options.threshold, 0, 1),
               "Leave out predictions with a lower score, 0 to 1", "--threshold");
  settings.add(section, "overlay", boolean(options.overlay),
               "Also show the picture with its predictions in a window; keys: q quits, space "
               "pauses, s saves the picture in the current folder",
               "--overlay");
}

void declare(Settings& settings, SceneOptions& options) {
  const std::string section = "state";
  settings.add(section, "smoothing", time_value(options.smoothing),
               "Time constant of the exponential smoothing of all scores; 0: none");
  settings.add(section, "enter-threshold", number(options.enter_threshold, 0, 1),
               "Smoothed score from which the best class becomes the state, else unknown; "
               "default: results.threshold");
  settings.add(section, "leave-threshold", number(options.leave_threshold, 0, 1),
               "Smoothed score below which a class stops being the state; default: "
               "state.enter-threshold");
  settings.add(section, "min-duration", time_value(options.min_duration),
               "How long a new state must last to be reported");
}

void declare(Settings& settings, EventOptions& options) {
  const std::string section = "events";
  settings.add(section, "on-change", command(options.on_change),
               "Run this command when the state changes, with LOOKOUT_EVENT_STATE and more in "
               "its environment. It is split into words as a shell does, but runs without a shell",
               "--on-change");
  settings.add(section, "on-change-timeout",
               time_value(options.on_change_timeout, {std::chrono::milliseconds(1), false}),
               "Kill the command and its child processes after this time");
  settings.add(section, "snapshot-on-change", text(options.snapshot_on_change, "DIR"),
               "Save the frame as JPEG in this folder when the state changes; the folder is "
               "created if its parent exists",
               "--snapshot-on-change");
  settings.add(
      section, "snapshot-when",
      choice<SnapshotWhen>(options.snapshot_when, {{"change", SnapshotWhen::kChange},
                                                   {"unsure", SnapshotWhen::kUnsure},
                                                   {"both", SnapshotWhen::kBoth}}),
      "Save the frame there when the state changes, when the model is unsure (a picture to "
      "train with), or both",
      "--snapshot-when");
  settings.add(section, "unsure-below", number(options.unsure_below, 0, 1),
               "A frame is unsure when its best score is lower, 0 to 1, or it is unknown");
  settings.add(section, "snapshot-cooldown", time_value(options.snapshot_cooldown),
               "Minimum time between two snapshots");
  settings.add(section, "snapshot-limit", size_value(options.snapshot_limit),
               "Maximum size of all snapshots together: the oldest are removed");
}

void declare(Settings& settings, ProfileOptions& options) {
  const std::string section = "profile";
  settings.add(
      section, "op-sampling", sampling_share(options.op_sampling),
      "Measure this share, 0 to 1, of the calls of operators (LibTorch only). The table is "
      "logged at the end and on SIGUSR1");
  settings.add(
      section, "op-by",
      choice(options.op_by, {{"name", OperatorGroup::kName},
                             {"shape", OperatorGroup::kShape},
                             {"layer", OperatorGroup::kLayer}}),
      "How op-sampling groups the calls of an operator: by its name alone, by the shapes of its "
      "inputs, or by the model's layers");
  settings.add(section, "op-sort",
               choice(options.op_sort, {{"self", OperatorOrder::kSelf},
                                        {"total", OperatorOrder::kTotal},
                                        {"memory", OperatorOrder::kMemory},
                                        {"calls", OperatorOrder::kCalls}}),
               "Order of this table: by self or total time, by allocated memory, or by calls");
  settings.add(section, "op-rows", number(options.op_rows, 0, 10'000),
               "Number of rows of this table; 0: 20 in the log, all in JSON");
  settings.add(section, "trace", text(options.trace, "FILE"),
               "Write what every thread did with some frames, for ui.perfetto.dev and lookout "
               "trace-summary",
               "--trace");
  settings.add(section, "trace-frames", number(options.trace_frames, 1, 1'000'000),
               "How many frames to trace; a camera's first 10 are left out");
}

void declare(Settings& settings, LogOptions& options) {
  const std::string section = "log";
  settings.add(section, "level", log_level(options.level), "The least severe messages to log",
               "--log-level");
  settings.add(section, "stats-interval", time_value(options.stats_interval, {{}, true}),
               "Time between statistics; auto: 1s, in the systemd journal 1min");
}

void declare(Settings& settings, RunOptions& options) {
  declare(settings, options.camera);
  declare(settings, options.model);
  declare(settings, options.results);
  declare(settings, options.state);
  declare(settings, options.events);
  declare(settings, options.http);
  declare(settings, options.mqtt);
  declare(settings, options.profile);
  declare(settings, options.log);
}

void add_input_flags(Command& command, const Settings& settings) {
  for (const char* key : {"input-size", "mean", "std", "channels", "scale"}) {
    command.add_flag_of(settings, "model", key);
  }
}

Value fallback_value(bool& forbid) {
  return choice<bool>(forbid, {{"allow", false}, {"forbid", true}});
}

Value format_value(Format& format) {
  return choice<Format>(format, {{"text", Format::kText}, {"json", Format::kJson}});
}

Value log_level(std::string& level) {
  return choice<std::string>(
      level,
      {{"debug", "debug"}, {"info", "info"}, {"warn", "warn"}, {"error", "error"}, {"off", "off"}});
}

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
                    })
      .examples("lookout serve --model mobilenet_v2.pt --http 127.0.0.1:8090");
  line.refuse_source("serve", "lookout run SOURCE --http 127.0.0.1:8090 does both");
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
      kServiceConfig);
  forget.examples("lookout mqtt forget --set camera.name=garage");
  forget.add_flag("--all-machines", boolean(*all_machines),
                  "Also remove what other machines left under this name: a board that is gone, or "
                  "this one before it was set up again");
  line.refuse_source("mqtt forget", "name the camera with --set camera.name=NAME");
}

void add_doctor(CommandLine& line, const CommandLine::RunAction& action,
                const std::string& config) {
  line.add_like_run("doctor",
                    "Check whether run would start, and explain problems\n"
                    "It takes the options of run. The configuration of the service is read if it "
                    "exists and --config names no other file; --config '' reads none.",
                    action, config)
      .examples(
          "lookout doctor\n"
          "lookout doctor /dev/video0 --model garage.pt");
}

void add_list_cameras(CommandLine& line, const CommandLine::RunAction& action) {
  line.add_like_run("list-cameras",
                    "List the cameras, and the mode that run would choose\n"
                    "It takes the options of run.",
                    action)
      .examples("lookout list-cameras --set camera.width=1280");
}

}  // namespace lookout

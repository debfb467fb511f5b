// The settings: each one is declared here, once.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <opencv2/core/types.hpp>
#include <utility>

#include <fmt/format.h>

#include "app/options/options.h"
#include "app/options/settings.h"
#include "pipeline/core/error.h"
#include "pipeline/core/lower_case.h"
#include "platform/http/http_access.h"
#include "platform/http/http_address.h"
#include "platform/sources/source_uri.h"
#include "platform/system/parse_number.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

constexpr int kMaxCpu = 1023;            // of CPU_SET(3)
constexpr double kMaxPixels = 1U << 30;  // OpenCV's limit
constexpr double kMaxClients = 1000;
constexpr double kMaxPredictRate = 100'000;
constexpr double kMaxHistoryDays = 730;
constexpr double kMaxPicturesADay = 100'000;
constexpr std::size_t kHashDigits = 64;
constexpr const char* kWatchSection = "watch";
constexpr TimeForm kEvery{std::chrono::milliseconds(100), false, std::chrono::hours(1)};

// Adds the settings of one section.
struct Section {
  Settings& settings;
  const char* name;

  void operator()(const std::string& key, Value value, const std::string& help,
                  const std::string& flag = "") const {
    settings.add(name, key, std::move(value), help, flag);
  }
};

void check_http_address(const std::string& text) {
  if (!text.empty()) parse_http_address(text);
}
void check_public_url(const std::string& text) {
  if (text.empty() || !origin_of_url(text).empty()) return;
  throw Error(ErrorKind::kUsage, text + " is no URL: https://HOST or http://HOST:PORT");
}

Value source_value(std::string& member) {
  Value value = text(member, "SOURCE", [](const std::string& text) { check_source_text(text); });
  value.expected = "a camera, a picture, a folder, a video or test://PATTERN";
  return value;
}

Value words(std::string& member, const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> choices;
  choices.reserve(words.size());
  for (const std::string& word : words) choices.emplace_back(word, word);
  return choice(member, choices);
}

// Values that are called as their to_text().
template <typename Enum>
Value named(std::optional<Enum>& member, std::initializer_list<Enum> values) {
  std::vector<std::pair<std::string, std::optional<Enum>>> choices;
  for (const Enum value : values) choices.emplace_back(to_text(value), value);
  return choice(member, choices);
}

Value number_or_auto(int& member, int min, int max) {
  Value value = number(member, min, max);
  value.set = [&member, whole = value.set](const std::string& text) {
    if (text == "auto") member = 0;
    return text == "auto" || whole(text);
  };
  value.expected = "auto or " + value.expected;
  value.accepted.push_back(TomlType::kString);
  value.placeholder = "auto|N";
  if (member == 0) value.default_text = "auto";
  return value;
}

// LibTorch cannot sample more rarely than one call in a million.
Value sampling_share(double& member) {
  Value value = number(member, 0, 1);
  value.set = [share = value.set](const std::string& text) {
    const auto number = parse_finite(text);
    return number && (*number == 0 || *number >= 1e-6) && share(text);
  };
  value.expected = "0 or a share of calls from 0.000001 to 1";
  return value;
}

// An empty text is no list of them: a variable that a script forgot to set must not switch the
// check off.
Value hashes(std::vector<std::string>& member) {
  Value value =
      list(member, fmt::format("SHA-256 hashes, each of {} hexadecimal digits", kHashDigits),
           "HASH,...", [](const std::string& part) {
             return part.size() == kHashDigits &&
                    part.find_first_not_of("0123456789abcdefABCDEF") == part.npos;
           });
  value.set = [set = value.set](const std::string& text) { return !text.empty() && set(text); };
  value.needs_text = true;
  return value;
}

Value host_names(std::vector<std::string>& member) {
  Value value = list(member, "names without ports, as in pi.lan,camera.example", "NAME,...",
                     [](const std::string& part) {
                       return !part.empty() && part.find_first_of(" :/") == part.npos;
                     });
  value.set = [set = value.set](const std::string& text) { return set(lower_case(text)); };
  return value;
}

Value files(std::vector<std::string>& member) {
  return list(member, "files, as in one.so,other.so", "FILE,...", [](const std::string& part) {
    return !part.empty() && part.find('\0') == part.npos;
  });
}

// Two numbers above 0, as "1.8,1.5"; in a file also an array of them.
Value number_pair(std::vector<double>& member) {
  Value value =
      parsed(member, "two numbers above 0, as in 1.8,1.5", "N,N", [](const std::string& text) {
        const std::vector<double> pair = parse_numbers(text);
        const bool good = pair.size() == 2 && pair[0] > 0 && pair[1] > 0;
        return good ? std::optional(pair) : std::nullopt;
      });
  value.accepted = {TomlType::kString, TomlType::kArray};
  return value;
}

std::optional<InputSize> parse_input_size(const std::string& text) {
  const std::string_view sides = text;
  const auto cross = sides.find('x');
  const auto width = parse_number<int>(sides.substr(0, cross));
  const auto height = cross == sides.npos ? width : parse_number<int>(sides.substr(cross + 1));
  const auto is_side = [](std::optional<int> side) {
    return side && *side >= 1 && *side <= kMaxInputSide;
  };
  if (!is_side(width) || !is_side(height)) return std::nullopt;
  return InputSize{*width, *height};
}

// A size in pixels, "299" or "299x224"; empty: none is stated.
Value input_size(std::optional<InputSize>& member) {
  Value value = parsed(
      member, fmt::format("a width and height from 1 to {}, as in 299 or 320x240", kMaxInputSide),
      "WxH", parse_input_size);
  value.accepted = {TomlType::kString, TomlType::kInteger};
  return value;
}

// Three numbers, "0.5,0.4,0.3", or one for all; in a file also an array of them. `above_zero`: each
// has to be.
Value numbers_of_channels(std::optional<std::array<float, 3>>& member, bool above_zero) {
  const auto parse = [above_zero](const std::string& text) {
    std::vector<double> parsed = parse_numbers(text);
    if (parsed.size() == 1) parsed.resize(3, parsed.front());
    std::array<float, 3> numbers{};
    bool good = parsed.size() == numbers.size();
    for (std::size_t i = 0; good && i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(parsed[i]);
      good = std::isfinite(numbers[i]) && (!above_zero || numbers[i] > 0);
    }
    return good ? std::optional(numbers) : std::nullopt;
  };
  const std::string above = above_zero ? " above 0" : "";
  Value value = parsed(member, "three numbers" + above + ", as in 0.5,0.4,0.3, or one for all",
                       "R,G,B", parse);
  value.accepted = {TomlType::kString, TomlType::kInteger, TomlType::kFloat, TomlType::kArray};
  return value;
}

// A command that is split into words like a shell's.
template <typename Command>
Value command(Command& member) {
  return parsed(member, "a command", "CMD",
                [](const std::string& text) -> std::optional<std::vector<std::string>> {
                  if (text.find('\0') != text.npos) return std::nullopt;
                  return text.empty() ? std::vector<std::string>() : split_command(text);
                });
}

// The part of [camera] that says which picture a source delivers.
void declare_picture(Settings& settings, CameraOptions& options) {
  const Section add{settings, "camera"};
  SourceOptions& source = options.source_options;
  add("width", number(source.width, 16, 8192),
      "Width to request from the camera, in pixels; default: the smallest that the model can use");
  add("height", number(source.height, 16, 8192), "Height to request from the camera, in pixels");
  add("framerate", number(source.framerate, 0.1, 1000),
      "Frames per second to request; default: 30");
  Value rotation =
      choice<int>(options.view.rotation, {{"0", 0}, {"90", 90}, {"180", 180}, {"270", 270}});
  rotation.accepted = {TomlType::kInteger};
  add("rotation", rotation, "Turn the picture clockwise, in degrees");
  add("hflip", boolean(options.view.hflip), "Mirror left and right, after turning");
  add("vflip", boolean(options.view.vflip), "Mirror top and bottom, after turning");
  add("roi", region(options.view.roi),
      "Classify only this part of the picture: x,y,width,height from 0 to 1", "--roi");
}

// The part of [camera] for CSI cameras, whose names are those of rpicam-apps.
void declare_controls(Settings& settings, CameraControls& controls) {
  const Section add{settings, "camera"};
  Value flicker = choice<int>(controls.flicker, {{"off", 0}, {"50", 50}, {"60", 60}});
  flicker.accepted.push_back(TomlType::kInteger);
  add("flicker", flicker,
      "For CSI cameras: expose so that lamps on mains of this frequency (Hz) do not flicker");
  add("shutter", number(controls.shutter, 1, 1e9),
      "Exposure time of a CSI camera in microseconds; default: automatic");
  add("gain", number(controls.gain, 0, 1000), "Analogue gain of a CSI camera; default: automatic");
  add("awb", words(controls.awb, white_balances()), "White balance of a CSI camera");
  add("awb-gains", number_pair(controls.awb_gains),
      "Gains of red and blue of a CSI camera, instead of its white balance");
  add("lens-position", number(controls.lens_position, 0, 100),
      "Focus of a CSI camera in dioptres, 0: infinity; default: continuous autofocus");
}

// The part of [camera] for files, streams and the network.
void declare_files(Settings& settings, SourceOptions& source) {
  const Section add{settings, "camera"};
  add("live", boolean(source.live),
      "For streams (- or a FIFO): classify the newest frame and drop older ones, instead "
      "of classifying every frame");
  add("recursive", boolean(source.recursive),
      "For folders: also classify the pictures in their folders");
  add("max-pixels", number(source.max_pixels, 1, kMaxPixels),
      "Refuse larger pictures and videos before they are decoded");
  add("credentials", text(source.credentials, "FILE"),
      "File whose first line is USER:PASSWORD for a network camera, so that they need not "
      "be in its address");
  add("rtsp-transport", choice<bool>(source.rtsp_udp, {{"tcp", false}, {"udp", true}}),
      "Transport of RTSP cameras");
}

}  // namespace

void declare(Settings& settings, CameraOptions& options) {
  const Section add{settings, "camera"};
  add("source", source_value(options.source),
      "What to classify: " + source_help() +
          ". Default: auto, the first CSI camera, else the first USB camera");
  add("name", text(options.name, "TEXT"),
      "The camera's name in results; default: the source's name");
  declare_picture(settings, options);
  declare_controls(settings, options.source_options.controls);
  declare_files(settings, options.source_options);
  add("max-rate", number(options.max_rate, 0.01, 1000),
      "Classify at most N frames per second, evenly spaced; default: every frame", "--max-rate");
  add("timeout", time_value(options.timeout), "End after this time: 500ms, 10s, 5min, 1h; 0: never",
      "-t,--timeout");
  add("wait",
      choice<Wait>(options.wait, {{"auto", Wait::kAuto}, {"yes", Wait::kYes}, {"no", Wait::kNo}}),
      "Wait for a camera that is absent at the start, instead of ending; auto: when "
      "started by systemd");
  add("give-up-after", time_value(options.source_options.give_up_after),
      "End when a camera has been absent for this time; 0: never");
  add("capture-priority", number(options.capture.realtime_priority, 0, 99),
      "Real-time priority (SCHED_FIFO) of the thread that reads the camera; 0: an "
      "ordinary thread");
  add("capture-cpus", numbers(options.capture.cpus, 0, kMaxCpu, "processors"),
      "Processors that this thread may run on, as in 2,3; empty: all");
}

void declare(Settings& settings, ModelOptions& options) {
  const Section add{settings, "model"};
  add("file", text(options.file, "FILE"),
      "Model file, TorchScript (.pt) or ONNX (.onnx), or a head (.head) of lookout train; default: "
      "the installed one, usually the self-test model, which knows only the patterns of test://all",
      "--model");
  add("base", text(options.base, "FILE"),
      "The base of a head, which needs the SHA-256 that the head names; default: the file that has "
      "it in /usr/share/lookout, /usr/local/share/lookout or /var/lib/lookout/models");
  add("labels", text(options.labels, "FILE"),
      "File with one label a line, or a JSON or YAML file of names, instead of the model's own",
      "--labels");
  add("input-size", input_size(options.stated.size),
      "Size of the model's input in pixels; default: what the model says, else 224x224",
      "--input-size");
  add("mean", numbers_of_channels(options.stated.normalisation.mean, false),
      "Mean of each channel, in the model's order; default: the model's, else ImageNet's",
      "--mean");
  add("std", numbers_of_channels(options.stated.normalisation.std, true),
      "Deviation of each channel; default: the model's, else ImageNet's", "--std");
  add("channels",
      choice<std::optional<ChannelOrder>>(
          options.stated.channels, {{"rgb", ChannelOrder::kRgb}, {"bgr", ChannelOrder::kBgr}}),
      "Order of the channels; default: the model's, else rgb", "--channels");
  add("scale",
      named<PixelScale>(options.stated.normalisation.scale,
                        {PixelScale::kUnit, PixelScale::kBytes, PixelScale::kSigned}),
      "Range of pixels, before mean and deviation; alone: without these", "--scale");
  add("output",
      named<ModelOutput>(options.stated.output, {ModelOutput::kLogits, ModelOutput::kProbabilities,
                                                 ModelOutput::kSigmoid}),
      "What the model gives: logits, probabilities that exclude each other, or sigmoid: those that "
      "do not; default: measured",
      "--output");
  add("sha256", hashes(options.sha256),
      "Accept only model files with one of these SHA-256 hashes (sha256sum), and only heads that "
      "have one or whose base has. Loading a model runs code: load only models that you trust");
  add("operators", files(options.operators),
      "Libraries with custom operators that the model needs. A library is code that runs with "
      "your rights");
  add("threads", number_or_auto(options.threads, 1, 64),
      "Maximum threads per inference (fewer under load), or auto: measured at the start",
      "--threads");
  add("workers", number(options.workers, 1, 64),
      "Frames or watches classified at the same time, each by one thread with its own copy "
      "of the model: a higher rate, but the same latency");
  add("device", text(options.device.name, "NAME"),
      "Compute on a custom device, which a plug-in adds to LibTorch (2.1 or later); meter "
      "measures what models cost");
  add("device-plugin", text(options.device.plugin, "FILE"),
      "Library of the custom device; default: liblookout-NAME.so beside the engine");
  add("device-fallback",
      choice<bool>(options.device.forbid_fallback, {{"allow", false}, {"forbid", true}}),
      "Whether operators without a kernel for the custom device may run on the CPU");
}

void declare(Settings& settings, ResultOptions& options) {
  const Section add{settings, "results"};
  add("format", format_value(options.format), "How results are written", "--format");
  add("write",
      choice<Results>(
          options.write,
          {{"auto", Results::kAuto}, {"all", Results::kAll}, {"changes", Results::kChanges}}),
      "Write all results, or only those that change the state; auto: changes in the systemd "
      "journal, else all");
  add("top-k", number(options.top_k, 1, 1000), "Maximum predictions per frame", "--top-k");
  add("threshold", number(options.threshold, 0, 1),
      "Leave out predictions with a lower score, 0 to 1", "--threshold");
  add("overlay", boolean(options.overlay),
      "Also show the picture with its predictions in a window; keys: q quits, space "
      "pauses, s saves the picture in the current folder",
      "--overlay");
}

void declare(Settings& settings, SceneOptions& options) {
  const Section add{settings, "state"};
  add("smoothing", time_value(options.smoothing),
      "Time constant of the exponential smoothing of all scores; 0: none");
  add("enter-threshold", number(options.enter_threshold, 0, 1),
      "Smoothed score from which the best class becomes the state, else unknown; "
      "default: results.threshold");
  add("leave-threshold", number(options.leave_threshold, 0, 1),
      "Smoothed score below which a class stops being the state; default: "
      "state.enter-threshold");
  add("min-duration", time_value(options.min_duration),
      "How long a new state must last to be reported");
}

void declare(Settings& settings, StillOptions& options) {
  const Section add{settings, "still"};
  add("enabled",
      choice<Still>(options.enabled,
                    {{"auto", Still::kAuto}, {"yes", Still::kYes}, {"no", Still::kNo}}),
      "While nothing changes in the picture, take the last result instead of computing it again; "
      "auto: yes for cameras and other live sources, no for files",
      "--still");
  add("at-least-every", time_value(options.at_least_every, kEvery),
      "Classify a frame at least once in this time, whatever it shows");
  add("ignore", regions(options.ignore),
      "Rectangles of the picture in which changes do not count, such as a clock that the camera "
      "draws: x,y,width,height from 0 to 1 for each");
}

void declare(Settings& settings, HeatOptions& options) {
  const Section add{settings, "heat"};
  add("limit", number(options.limit, 40, 100),
      "Classify fewer frames per second to keep the processor below this temperature, in degrees "
      "Celsius; default: no limit");
}

// T: SnapshotWhen, or an optional one.
template <typename T>
Value snapshot_when(T& member) {
  return choice<T>(member, {{"change", SnapshotWhen::kChange},
                            {"unsure", SnapshotWhen::kUnsure},
                            {"both", SnapshotWhen::kBoth}});
}

void declare(Settings& settings, EventOptions& options) {
  const Section add{settings, "events"};
  add("on-change", command(options.on_change),
      "Run this command when the state changes, with LOOKOUT_EVENT_STATE and more in "
      "its environment. It is split into words as a shell does, but runs without a shell",
      "--on-change");
  add("on-change-timeout",
      time_value(options.on_change_timeout, {std::chrono::milliseconds(1), false}),
      "Kill the command and its child processes after this time");
  add("snapshot-on-change", text(options.snapshot_on_change, "DIR"),
      "Save the frame as JPEG in this folder when the state changes; the folder is "
      "created if its parent exists",
      "--snapshot-on-change");
  add("snapshot-when", snapshot_when(options.snapshot_when),
      "Save the frame there when the state changes, when the model is unsure (a picture to "
      "train with), or both");
  add("unsure-below", number(options.unsure_below, 0, 1),
      "A frame is unsure when its best score is lower, 0 to 1, or it is unknown");
  add("snapshot-cooldown", time_value(options.snapshot_cooldown),
      "Minimum time between two snapshots");
  add("snapshot-limit", size_value(options.snapshot_limit),
      "Maximum size of all snapshots together: the oldest are removed");
}

void declare(Settings& settings, KeptHistory& options) {
  const Section add{settings, "history"};
  add("folder", text(options.folder, "DIR"),
      "Remember every change of the state, with a small picture, in this folder, for lookout "
      "history and the HTTP server; it is created if its parent exists; default: nothing is "
      "remembered");
  add("days", number(options.days, 1, kMaxHistoryDays),
      "How long changes and their pictures are kept; sums of each hour are kept for two years");
  add("pictures-a-day", number(options.pictures_a_day, 0, kMaxPicturesADay),
      "Maximum number of pictures per day (UTC); 0: none");
  add("picture-limit", size_value(options.picture_limit),
      "Maximum size of all these pictures together: the oldest are removed");
}

void declare(Settings& settings, ProfileOptions& options) {
  const Section add{settings, "profile"};
  add("op-sampling", sampling_share(options.op_sampling),
      "Measure this share, 0 to 1, of the calls of operators (LibTorch only). The table is "
      "logged at the end and on SIGUSR1");
  add("op-by",
      choice(options.op_by, {{"name", OperatorGroup::kName},
                             {"shape", OperatorGroup::kShape},
                             {"layer", OperatorGroup::kLayer}}),
      "How op-sampling groups the calls of an operator: by its name alone, by the shapes of its "
      "inputs, or by the model's layers");
  add("op-sort",
      choice(options.op_sort, {{"self", OperatorOrder::kSelf},
                               {"total", OperatorOrder::kTotal},
                               {"memory", OperatorOrder::kMemory},
                               {"calls", OperatorOrder::kCalls}}),
      "Order of this table: by self or total time, by allocated memory, or by calls");
  add("op-rows", number(options.op_rows, 0, 10'000),
      "Number of rows of this table; 0: 20 in the log, all in JSON");
  add("trace", text(options.trace, "FILE"),
      "Write what every thread did with some frames, for ui.perfetto.dev and lookout "
      "trace-summary",
      "--trace");
  add("trace-frames", number(options.trace_frames, 1, 1'000'000),
      "How many frames to trace; a camera's first 10 are left out");
}

void declare(Settings& settings, LogOptions& options) {
  const Section add{settings, "log"};
  add("level", words(options.level, {"debug", "info", "warn", "error", "off"}),
      "The least severe messages to log", "--log-level");
  add("stats-interval", time_value(options.stats_interval, {{}, true}),
      "Time between statistics; auto: 1s, in the systemd journal 1min");
}

void declare(Settings& settings, HttpOptions& options) {
  const Section add{settings, "http"};
  add("address", text(options.address, "ADDRESS", check_http_address),
      "Serve a page with the live picture, results and metrics at this address: "
      "127.0.0.1:8090, [::]:8090 or unix:PATH; default: only the sockets of systemd",
      "--http");
  add("token-file", text(options.token_file, "FILE"),
      "File with the token that clients must send, at least 16 characters; without it only "
      "an address of this machine is served");
  add("insecure", boolean(options.insecure), "Serve other machines without a token");
  add("teach", boolean(options.teach),
      "Let who logs in with the password of lookout password change what is watched");
  add("guests", choice<bool>(options.guests, {{"page", true}, {"none", false}}),
      "What who has not logged in sees: the page with its pictures, states and history, or none of "
      "that");
  add("password-file", text(options.password_file, "FILE"),
      "File with the hash of this password; default: NAME.password beside the configuration "
      "NAME.toml");
  add("public-url", text(options.public_url, "URL", check_public_url),
      "How browsers call this server, if a reverse proxy stands before it: https://HOST[:PORT]; "
      "only pages from there may change anything; default: http:// and the Host of the request");
  add("hosts", host_names(options.hosts),
      "Host names of this server that clients may use, besides localhost, this machine's "
      "name and IP addresses; pages of these hosts may show its picture");
  add("clients", number(options.clients, 1, kMaxClients),
      "Maximum number of clients at the same time; 16 from one address");
  add("viewers", number(options.viewers, 1, kMaxClients),
      "Maximum number of clients that watch the live picture");
  add("max-upload", size_value(options.max_upload), "Maximum size of a request with pictures");
  add("max-pixels", number(options.max_pixels, 1, kMaxPixels),
      "Refuse larger pictures of clients before they are decoded");
  add("predict-rate", number(options.predict_rate, 0, kMaxPredictRate),
      "Maximum number of requests with pictures per second from one address; 0: no limit");
}

void declare(Settings& settings, WatchOptions& options) {
  const std::string section = std::string(kWatchSection) + "." + options.name;
  const Section add{settings, section.c_str()};
  add("title", text(options.title, "TEXT"),
      "What people are shown in place of NAME, as in Home Assistant; default: NAME");
  add("roi", region(options.roi),
      "The part of the picture that this watch is about: x,y,width,height from 0 to 1; default: "
      "camera.roi");
  add("model", text(options.model, "FILE"),
      "Its model file, with the labels, the input and the output that the file says; default: "
      "the one of [model]");
  add("labels", text(options.labels, "FILE"),
      "Labels of this model, as model.labels; default: the model's own");
  add("every", time_value(options.every, kEvery),
      "Classify it at least once in this time, whatever it shows; default: still.at-least-every");
  add("smoothing", time_value(options.smoothing), "As state.smoothing, which is the default");
  add("enter-threshold", number(options.enter_threshold, 0, 1),
      "As state.enter-threshold, which is the default");
  add("leave-threshold", number(options.leave_threshold, 0, 1),
      "As state.leave-threshold; default: that, or this watch's enter-threshold if it has one");
  add("min-duration", time_value(options.min_duration),
      "As state.min-duration, which is the default");
  add("on-change", command(options.on_change),
      "Run this command when the state of this watch changes; default: events.on-change");
  add("snapshot-when", snapshot_when(options.snapshot_when),
      "As events.snapshot-when, which is the default");
  add("unsure-below", number(options.unsure_below, 0, 1),
      "As events.unsure-below, which is the default");
  add("snapshot-cooldown", time_value(options.snapshot_cooldown),
      "As events.snapshot-cooldown, which is the default");
}

void declare(Settings& settings, RunOptions& options) {
  declare(settings, options.camera);
  declare(settings, options.model);
  declare(settings, options.results);
  declare(settings, options.state);
  declare(settings, options.still);
  settings.add_repeated(kWatchSection, options.watches, kMaxWatches);
  declare(settings, options.heat);
  declare(settings, options.events);
  declare(settings, options.history);
  declare(settings, options.http);
  declare(settings, options.mqtt);
  declare(settings, options.webhook);
  declare(settings, options.gpio);
  declare(settings, options.profile);
  declare(settings, options.log);
}

Value format_value(Format& format) {
  return choice<Format>(format, {{"text", Format::kText}, {"json", Format::kJson}});
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

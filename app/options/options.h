// The options of the sub-commands. Those of `run` are in groups, one for each section of the
// configuration file; the declaration of a group (declarations.cpp) names keys, flags and ranges,
// and takes each default from the member's initial value.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/device.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/state_tracker.h"
#include "pipeline/run/scheduling.h"
#include "platform/cameras/source_options.h"

namespace lookout {

class Settings;
struct Value;

// The service's configuration file; those of its instances lie beside it.
inline constexpr const char* kServiceConfig = "/etc/lookout/lookout.toml";

enum class Format { kText, kJson };

// Which results are written: every one, or one whenever the state changes. Auto: changes when
// stdout is the systemd journal.
enum class Results { kAuto, kAll, kChanges };

// Whether a camera that is not there at the start is waited for. Auto: when a service manager
// started the program (NOTIFY_SOCKET is set).
enum class Wait { kAuto, kYes, kNo };

struct CameraOptions {
  std::string source = "auto";
  std::string name;  // in results; empty: the source's
  SourceOptions source_options;
  Wait wait = Wait::kAuto;
  View view;
  std::optional<double> max_rate;        // classifications a second; nothing: every frame
  Scheduling capture;                    // of the thread that reads the camera
  std::chrono::milliseconds timeout{0};  // 0: run until stopped
};

struct ModelOptions {
  std::string file;                 // archive or head; empty: the built-in self-test model
  std::string base;                 // archive of a head's base; empty: it is found by its SHA-256
  std::string labels;               // file; empty: the archive's own
  StatedModel stated;               // instead of what the archive says
  std::vector<std::string> sha256;  // of the archives that are accepted; empty: all are
  // Libraries with operators that the model needs; empty: none.
  std::vector<std::string> operators;
  int threads = 0;  // that compute one inference; 0: as many as a measurement finds best
  int workers = 1;  // frames classified side by side
  DeviceOptions device;
};

struct ResultOptions {
  std::size_t top_k = 10;
  double threshold = 0;
  Format format = Format::kText;
  Results write = Results::kAuto;
  bool overlay = false;  // a window, too
};

// The options of the state, in which thresholds that were not set are not filled in yet.
struct SceneOptions {
  std::chrono::milliseconds smoothing{0};  // the time constant; 0: none
  std::optional<double> enter_threshold;   // nothing: ResultOptions::threshold
  std::optional<double> leave_threshold;   // nothing: that for entering
  std::chrono::milliseconds min_duration{0};
};

// Whether a frame that shows what the last classified one showed takes over its result. Auto: for a
// live source.
enum class Still { kAuto, kYes, kNo };

struct StillOptions {
  Still enabled = Still::kAuto;
  std::chrono::milliseconds at_least_every{1000};  // a frame is classified whatever it shows
  // What may change meanwhile: x, y, width, height as fractions 0..1 of the turned and mirrored
  // picture. They leave a part of View::roi.
  std::vector<cv::Rect2d> ignore;
};

// When a picture is saved: when the state changes, or when the model is unsure.
enum class SnapshotWhen { kChange, kUnsure, kBoth };

// One of several things to watch in the picture: [watch.NAME]. What is not set is taken from the
// other groups.
struct WatchOptions {
  std::string name;
  std::string title;                               // empty: the name
  std::optional<cv::Rect2d> roi;                   // as View::roi
  std::string model;                               // as ModelOptions::file
  std::string labels;                              // as ModelOptions::labels
  std::optional<std::chrono::milliseconds> every;  // as StillOptions::at_least_every
  std::optional<std::chrono::milliseconds> smoothing;
  std::optional<double> enter_threshold;
  std::optional<double> leave_threshold;
  std::optional<std::chrono::milliseconds> min_duration;
  std::optional<std::vector<std::string>> on_change;
  std::optional<SnapshotWhen> snapshot_when;
  std::optional<double> unsure_below;
  std::optional<std::chrono::milliseconds> snapshot_cooldown;
  // By an owner, see add_taught_watches(): one whose model cannot be loaded is left out.
  bool taught = false;
};

// Of a run.
inline constexpr std::size_t kMaxWatches = 8;

struct HeatOptions {
  std::optional<double> limit;  // degrees Celsius of the processor; nothing: none
};

struct EventOptions {
  std::vector<std::string> on_change;  // program and arguments; empty: none
  std::chrono::milliseconds on_change_timeout{10'000};
  std::string snapshot_on_change;  // folder; empty: none
  SnapshotWhen snapshot_when = SnapshotWhen::kChange;
  double unsure_below = 0.7;  // the best score; unknown is unsure, too
  std::chrono::milliseconds snapshot_cooldown{10'000};
  std::uint64_t snapshot_limit = 100 << 20;  // bytes
};

struct HttpOptions {
  std::string address;        // as parse_http_address(); empty: only the sockets of systemd
  std::string token_file;     // empty: nobody has to know a token
  bool insecure = false;      // other machines may look without a token
  bool guests = true;         // who has not logged in may look
  bool teach = false;         // who knows the password may change what is watched
  std::string password_file;  // see password_file()
  std::string public_url;     // as browsers call the server: https://HOST; empty: http and Host
  std::vector<std::string> hosts;  // names of the server, lower case
  std::size_t clients = 64;
  std::size_t viewers = 8;
  std::uint64_t max_upload = 8 << 20;    // bytes of a request
  std::int64_t max_pixels = 25'000'000;  // of a picture that a client sends
  int predict_rate = 1000;               // requests with pictures a second of an address; 0: any
};

// Which pictures are published.
enum class MqttPictures { kNone, kChanges };

struct MqttOptions {
  std::string url;  // as parse_mqtt_address(); empty: nothing is published
  std::string prefix = "lookout";
  std::string password_file;                // empty: no password
  std::string ca;                           // file; empty: the system's CAs
  std::string certificate;                  // file; empty: none
  std::string key;                          // file; empty: none
  std::string discovery = "homeassistant";  // empty: none
  std::chrono::milliseconds interval{60'000};
  MqttPictures pictures = MqttPictures::kChanges;
  bool commands = false;
};

// Messages to a web server, see webhook_settings.h.
struct WebhookOptions {
  std::string url;       // empty: that of url_file
  std::string url_file;  // its first line is the URL; both empty: nothing is sent
  std::string method = "POST";
  std::vector<std::string> headers;  // "Name: value"
  std::string headers_file;          // a header on each line; empty: none
  std::string body;                  // empty: camera, watch and state
  std::vector<std::string> form;     // "name: value"
  std::string picture;               // empty: none; "body"; else a field of the form
  std::vector<std::string> states;   // that are told of; empty: all
  std::string ca;                    // file; empty: the system's CAs
  std::chrono::milliseconds timeout{30'000};

  bool sends() const { return !url.empty() || !url_file.empty(); }
};

struct GpioOptions {
  std::optional<int> line;  // its offset on the chip; nothing: none
  std::string chip = "/dev/gpiochip0";
  std::vector<std::string> states;  // labels for which the line is active
  bool active_low = false;
  std::string watch;  // whose state; empty: that of the only one
};

struct KeptHistory {
  std::string folder;  // empty: none is kept
  int days = 90;       // for which each change is kept
  std::int64_t pictures_a_day = 500;
  std::uint64_t picture_limit = 500 << 20;  // bytes
};

struct ProfileOptions {
  double op_sampling = 0;  // of the calls of operators, 0..1; 0: none
  OperatorGroup op_by = OperatorGroup::kName;
  OperatorOrder op_sort = OperatorOrder::kSelf;
  std::size_t op_rows = 0;  // of the table in text and JSON; 0: 20 in text, all in JSON
  std::string trace;        // file; empty: none
  std::uint64_t trace_frames = 100;
};

struct LogOptions {
  std::string level = "info";
  std::chrono::milliseconds stats_interval{0};  // 0: auto, 1 s, or 1 min in the systemd journal
};

void declare(Settings& settings, CameraOptions& options);
void declare(Settings& settings, ModelOptions& options);
void declare(Settings& settings, ResultOptions& options);
void declare(Settings& settings, SceneOptions& options);
void declare(Settings& settings, StillOptions& options);
void declare(Settings& settings, WatchOptions& options);
void declare(Settings& settings, HeatOptions& options);
void declare(Settings& settings, EventOptions& options);
void declare(Settings& settings, KeptHistory& options);
void declare(Settings& settings, HttpOptions& options);
void declare(Settings& settings, MqttOptions& options);
void declare(Settings& settings, WebhookOptions& options);
void declare(Settings& settings, GpioOptions& options);
void declare(Settings& settings, ProfileOptions& options);
void declare(Settings& settings, LogOptions& options);

// Options of `lookout run`, in the sections of deploy/lookout.toml.
struct RunOptions {
  CameraOptions camera;
  ModelOptions model;
  ResultOptions results;
  SceneOptions state;
  StillOptions still;
  std::deque<WatchOptions> watches;  // empty: one without a name
  HeatOptions heat;
  EventOptions events;
  KeptHistory history;
  HttpOptions http;
  MqttOptions mqtt;
  WebhookOptions webhook;
  GpioOptions gpio;
  ProfileOptions profile;
  LogOptions log;
  std::string config_file;            // the file that was read; empty: none
  std::vector<std::string> warnings;  // sentences for the log, about file and environment
};

// All groups.
void declare(Settings& settings, RunOptions& options);

Value format_value(Format& format);

// Options of `lookout inspect`.
struct InspectOptions {
  ModelOptions model;  // not used: threads and workers
  Format format = Format::kText;
  bool run = false;    // runs the model, to tell what no file says
  bool code = false;   // shows the code of an archive alone
  bool graph = false;  // shows the nodes of an ONNX model alone
};

// Options of `lookout list-cameras`: those of the run that would choose among a camera's sizes.
struct ListCamerasOptions {
  RunOptions run;
};

// Options of `lookout bench`.
struct BenchOptions {
  BenchOptions() {
    camera.source = "test://all?fps=0&hold=1&frames=16";
    camera.timeout = std::chrono::seconds(10);
  }

  // The source of `still` unless another one is named: nothing moves but a sensor's noise.
  static constexpr const char* kStillScene = "test://colorsquares?fps=0&frames=64&noise=2&still=1";

  CameraOptions camera;             // `timeout`: for each combination
  ModelOptions model;               // all but file, threads and workers
  ResultOptions results;            // used: format
  LogOptions log;                   // used: level
  std::vector<std::string> models;  // each as ModelOptions::file; empty: the default
  std::vector<int> threads;  // each as ModelOptions::threads; empty: some that fit the machine
  std::vector<int> workers{1};
  std::uint64_t frames = 0;  // that each combination is measured with; 0: as many as there is time
  std::optional<double> pace;  // frames a second of a source without a rate; nothing: the fastest
  bool still = false;          // also measure a still scene, with and without reused results
  std::string report;          // a file for the report, .md or .html; empty: none
  int combination = -1;        // the one that a process of bench has another one measure; -1: none
};

// What `lookout eval`, `train` and `collect` take of the configuration.
struct ConfiguredWatch {
  std::string name;                // of the watch whose options are taken; empty: of none
  std::string config_file;         // that is read instead of the service's; "": none
  std::vector<std::string> notes;  // sentences for the log
};

// Options of `lookout eval`.
struct EvalOptions {
  ConfiguredWatch watch;
  std::string folder;
  CameraOptions camera;  // used: view
  ModelOptions model;
  ResultOptions results;   // used: format
  LogOptions log;          // used: level
  std::string labels_csv;  // file,label; empty: a folder for each class
  std::string output;      // a file for the results as JSON; empty: none
  std::string report;      // a file for the report as an HTML page; empty: none
};

// Options of `lookout train`.
struct TrainOptions {
  ConfiguredWatch watch;
  std::string folder;
  std::string output;         // the archive, or a head alone
  CameraOptions camera;       // used: view
  ModelOptions model;         // the base; used: file, sha256, operators, threads, stated
  ResultOptions results;      // used: format
  LogOptions log;             // used: level
  std::string labels_csv;     // file,label; empty: a folder for each class
  std::string other;          // a folder of pictures of none of the classes; empty: none
  bool mirror = false;        // mirrored pictures count, too
  bool equal_classes = true;  // classes weigh the same; else pictures do
  std::string report;         // a file for the report as an HTML page; empty: none
};

// Options of `lookout collect`.
struct CollectOptions {
  ConfiguredWatch watch;
  CameraOptions camera;  // `view`: what has to change for a picture to be kept
  LogOptions log;        // used: level
  std::string folder;
  std::string label;
  std::chrono::milliseconds every{1000};  // at least between two pictures; 0: each frame
  bool keep_similar = false;              // keep pictures that look like the one before, too
};

// What `lookout history` shows.
enum class HistoryView { kNow, kChanges, kHours };
enum class TableFormat { kText, kJson, kCsv };

// Options of `lookout history`.
struct HistoryViewOptions {
  std::string folder = "/var/lib/lookout/history";
  HistoryView view = HistoryView::kNow;
  std::string from;  // as parse_history_time(); empty: a day before `to`
  std::string to;    // empty: now
  std::optional<std::string> watch;
  TableFormat format = TableFormat::kText;
};

// What the commands of `lookout model` take besides the options of a run.
struct ModelCommandOptions {
  std::string file;                  // to install
  std::string hash;                  // the beginning of a SHA-256; empty: the model before
  std::optional<std::string> watch;  // nothing: the one model that there is
};

// What `lookout doctor` takes besides the options of a run.
struct DoctorOptions {
  std::string bundle;    // a file for others to look at, "-": stdout; empty: none
  bool service = false;  // the configuration is judged as the service would see it
};

// What `lookout password` takes besides the options of a run.
struct PasswordOptions {
  bool remove = false;
};

// An option of `lookout setup` that answers a question of it.
struct SetupFlag {
  std::string key;
  std::string flag;  // "--camera"
  std::string placeholder;
  std::string help;
};

// Options of `lookout setup`.
struct SetupOptions {
  std::map<std::string, std::string> answers;  // by the keys of the flags
  bool yes = false;                            // asks nothing
  bool show = false;                           // only shows what is set up
  bool undo = false;                           // removes what it made
  std::string root;                            // for tests: the folder instead of /
};

// Which frames of a trace are unusually slow: those at or above a percentile, or above a time.
struct OutlierRule {
  double percentile = 99;
  std::optional<std::chrono::nanoseconds> time;  // instead
};

// Options of `lookout trace-summary`.
struct TraceSummaryOptions {
  std::vector<std::string> files;  // at least one
  Format format = Format::kText;
  OutlierRule outliers;
  std::string html;      // a file for the report as an HTML page; empty: none
  bool compare = false;  // the second of two files with the first
};

// The options of the state: thresholds that were not set are filled in.
StateOptions state_options(const RunOptions& options);

}  // namespace lookout

#include "platform/metrics/run_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>
#include <system_error>
#include <utility>

#include "pipeline/core/json_text.h"
#include "platform/system/process_usage.h"

namespace lookout {
namespace {

double seconds_of(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double since_1970(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// A text among the facts about the archive; empty when it is not there.
std::string fact_of(const RunInfo& info, const char* name) {
  const auto facts = parse_json(info.archive);
  return facts.is_object() && facts.contains(name) && facts[name].is_string()
             ? facts[name].get<std::string>()
             : std::string();
}

MetricLabels with(MetricLabels labels, const char* name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

void append_one(MetricsText& text, const char* name, const char* type, const char* help,
                const MetricLabels& labels, double value) {
  text.begin(name, type, help);
  text.add(labels, value);
}

constexpr std::size_t kHashDigits = 12;  // of a model's SHA-256: enough to tell models apart

// In seconds since 1970. Computed once: the clocks that it is made of are read one after the other,
// and a value that changes would count as a restart.
double process_start() {
  static const double start =
      since_1970(std::chrono::system_clock::now()) - seconds_of(process_usage().age);
  return start;
}

void append_process(MetricsText& text) {
  const ProcessUsage usage = process_usage();
  append_one(text, "process_resident_memory_bytes", "gauge", "Resident memory.", {},
             static_cast<double>(usage.resident_bytes));
  append_one(text, "process_cpu_seconds_total", "counter", "Processor time of all threads.", {},
             seconds_of(usage.cpu));
  append_one(text, "process_start_time_seconds", "gauge", "Start, in seconds since 1970.", {},
             process_start());
  std::error_code unreadable;
  const std::filesystem::directory_iterator fds("/proc/self/fd", unreadable);
  append_one(text, "process_open_fds", "gauge", "Open file descriptors.", {},
             static_cast<double>(std::distance(begin(fds), end(fds))));
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  append_one(text, "process_max_fds", "gauge", "Limit of open file descriptors.", {},
             static_cast<double>(limit.rlim_cur));
}

// https://www.raspberrypi.com/documentation/computers/os.html#get_throttled
void append_throttled(std::uint32_t bits, MetricsText& text) {
  constexpr unsigned int kSinceBoot = 16;  // the same four bits again
  constexpr std::array<const char*, 4> kReasons{"under_voltage", "frequency_capped", "throttled",
                                                "soft_temperature_limit"};
  text.begin("lookout_throttled", "gauge", "1: the Raspberry Pi's firmware says so.");
  for (unsigned int bit = 0; bit < kReasons.size(); ++bit) {
    text.add({{"reason", kReasons[bit]}, {"when", "now"}}, bits >> bit & 1U);
    text.add({{"reason", kReasons[bit]}, {"when", "boot"}}, bits >> (bit + kSinceBoot) & 1U);
  }
}

}  // namespace

RunMetrics::RunMetrics(const RunInfo& info, MetricSources sources)
    : has_source_(!info.source.empty()),
      camera_{{"camera", info.camera}},
      labels_(info.labels),
      model_{{"camera", info.camera},
             {"model", info.model},
             {"weights", fact_of(info, "weights")},
             {"quantization", fact_of(info, "quantization")},
             {"sha256", info.sha256.substr(0, kHashDigits)}},
      library_(fact_of(info, "library")),
      sources_(std::move(sources)) {
  if (labels_.size() <= kMaxStates) state_seconds_.resize(labels_.size() + 1);
}

void RunMetrics::record(const Result& result) {
  const auto now = Clock::now();
  const MutexLock lock(mutex_);
  Counters& counters = counters_;
  counters.captured = std::max(counters.captured, result.sequence + 1);
  counters.dropped = result.dropped;
  ++counters.classified;
  counters.capture.record(result.durations.capture);
  counters.preprocess.record(result.durations.preprocess);
  counters.inference.record(result.durations.inference);
  counters.total.record(result.durations.total);
  counters.frame_age.record(result.frame_age);
  if (counters.has_state && counters.last_result != Clock::time_point() &&
      counters.state < state_seconds_.size()) {
    state_seconds_[counters.state] += seconds_of(now - counters.last_result);
  }
  counters.last_result = now;
  const SceneState& state = result.state;
  counters.has_state = state.kind != SceneState::Kind::kNone;
  counters.has_class = state.kind == SceneState::Kind::kClass;
  counters.state = counters.has_class ? state.prediction.index : labels_.size();
  counters.state_score = state.prediction.score;
  if (!result.state_changed) return;
  ++counters.changes;
  counters.state_start = since_1970(result.timestamp);
}

void RunMetrics::record(const StatsSnapshot& stats) {
  const MutexLock lock(mutex_);
  counters_.captured = std::max(counters_.captured, stats.captured);
  counters_.dropped = std::max(counters_.dropped, stats.dropped);
  counters_.skipped = stats.skipped;
}

void RunMetrics::record(const CameraStatus& status) {
  const MutexLock lock(mutex_);
  if (!status.online) ++counters_.losses;
  counters_.online = status.online;
  counters_.has_state = false;
  counters_.has_class = false;
  counters_.last_result = {};  // the time without a camera belongs to no state
}

void RunMetrics::append_camera(const Counters& counters, MetricsText& text) const {
  append_one(text, "lookout_camera_up", "gauge", "1: the camera delivers frames; 0: it is away.",
             camera_, counters.online ? 1 : 0);
  append_one(text, "lookout_camera_losses_total", "counter", "How often the camera went away.",
             camera_, static_cast<double>(counters.losses));
  append_one(text, "lookout_frames_captured_total", "counter", "Frames read from the source.",
             camera_, static_cast<double>(counters.captured));
  append_one(text, "lookout_frames_classified_total", "counter", "Frames classified.", camera_,
             static_cast<double>(counters.classified));
  append_one(text, "lookout_frames_skipped_total", "counter", "Frames that could not be read.",
             camera_, static_cast<double>(counters.skipped));
  append_one(text, "lookout_frames_dropped_total", "counter",
             "Frames that were never classified, since a newer one came first.", camera_,
             static_cast<double>(counters.dropped));
}

void RunMetrics::append_durations(const Counters& counters, MetricsText& text) const {
  text.begin("lookout_stage_duration_seconds", "histogram", "Time of a frame in each stage.");
  text.add(with(camera_, "stage", "capture"), counters.capture);
  text.add(with(camera_, "stage", "preprocess"), counters.preprocess);
  text.add(with(camera_, "stage", "inference"), counters.inference);
  text.add(with(camera_, "stage", "total"), counters.total);
  text.begin("lookout_frame_age_seconds", "histogram",
             "Time from the capture of a frame to its result.");
  text.add(camera_, counters.frame_age);
}

void RunMetrics::append_state(const Counters& counters, const std::vector<double>& seconds,
                              MetricsText& text) const {
  append_one(text, "lookout_state_changes_total", "counter", "Changes of the state.", camera_,
             static_cast<double>(counters.changes));
  if (counters.has_class) {
    append_one(text, "lookout_state_score", "gauge", "Smoothed score of the state's class.",
               camera_, counters.state_score);
  }
  if (counters.has_state && counters.changes > 0) {
    append_one(text, "lookout_state_start_time_seconds", "gauge",
               "When the state began, in seconds since 1970.", camera_, counters.state_start);
  }
  if (seconds.empty()) return;
  text.begin("lookout_state_seconds_total", "counter", "Time that each state lasted.");
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const bool is_class = i < labels_.size();
    // Two classes of one label are one state.
    const auto first = std::find(labels_.begin(), labels_.end(), is_class ? labels_[i] : "");
    if (is_class && first != labels_.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    text.add(with(camera_, "state", is_class ? labels_[i] : "(unknown)"), seconds[i]);
  }
}

void RunMetrics::append_operators(MetricsText& text) const {
  if (!sources_.operators) return;
  struct Sums {
    double calls = 0;
    double sampled = 0;
    double self = 0;
    double total = 0;
  };
  std::map<std::string, Sums> operators;
  for (const OperatorRow& row : sources_.operators().rows) {
    const bool known = operators.count(row.name) > 0 || operators.size() < kMaxOperators;
    Sums& sums = operators[known ? row.name : "(other)"];
    sums.calls += row.calls;
    sums.sampled += static_cast<double>(row.sampled);
    sums.self += seconds_of(row.self);
    sums.total += seconds_of(row.total);
  }
  const auto append = [&](const char* name, const char* help, double Sums::*member) {
    text.begin(name, "counter", help);
    for (const auto& [name_of, sums] : operators) {
      text.add(with(camera_, "operator", name_of), sums.*member);
    }
  };
  append("lookout_operator_calls_total", "Calls, estimated from those sampled.", &Sums::calls);
  append("lookout_operator_sampled_calls_total", "Calls that were measured.", &Sums::sampled);
  append("lookout_operator_self_seconds_total",
         "Time without the operators that it called, estimated.", &Sums::self);
  append("lookout_operator_seconds_total", "Time, estimated.", &Sums::total);
}

void RunMetrics::append_api_usage(MetricsText& text) const {
  if (!sources_.api_usage) return;
  const auto usage = sources_.api_usage();
  if (usage.empty()) return;
  text.begin("lookout_libtorch_api_usage", "gauge",
             "How often LibTorch reported that a feature is used, since the start.");
  for (const auto& [event, reports] : usage) {
    text.add({{"event", event}}, static_cast<double>(reports));
  }
}

void RunMetrics::append_mqtt(MetricsText& text) const {
  if (!sources_.mqtt) return;
  const MqttFigures mqtt = sources_.mqtt();
  append_one(text, "lookout_mqtt_connected", "gauge",
             "1: connected to the broker, and publishing: no other machine has the name.", camera_,
             mqtt.connected ? 1 : 0);
  append_one(text, "lookout_mqtt_messages_total", "counter", "Messages that the broker received.",
             camera_, static_cast<double>(mqtt.messages));
  append_one(text, "lookout_mqtt_dropped_total", "counter",
             "Messages that were not sent: a newer one came first, or there was no connection.",
             camera_, static_cast<double>(mqtt.dropped));
}

void RunMetrics::append_machine(MetricsText& text) const {
  if (!sources_.machine) return;
  const MachineState machine = sources_.machine();
  if (machine.temperature) {
    append_one(text, "lookout_soc_temperature_celsius", "gauge", "Temperature of the processor.",
               {}, *machine.temperature);
  }
  if (machine.clock_mhz) {
    append_one(text, "lookout_cpu_frequency_hertz", "gauge", "Clock of the first processor.", {},
               *machine.clock_mhz * 1e6);
  }
  if (machine.throttled) append_throttled(*machine.throttled, text);
}

std::string RunMetrics::text() const {
  Counters counters;
  std::vector<double> seconds;
  {
    const MutexLock lock(mutex_);
    counters = counters_;
    seconds = state_seconds_;
  }
  MetricsText text;
  append_one(text, "lookout_build_info", "gauge", "Versions of the program and its libraries.",
             {{"version", LOOKOUT_VERSION}, {"library", library_}, {"opencv", CV_VERSION}}, 1);
  append_one(text, "lookout_model_info", "gauge", "The model.", model_, 1);
  if (has_source_) {
    append_camera(counters, text);
    append_durations(counters, text);
    append_state(counters, seconds, text);
  }
  append_operators(text);
  append_api_usage(text);
  if (sources_.pictures != nullptr) {
    append_one(text, "lookout_pictures_before_frames_total", "counter",
               "Pictures of clients that went before a frame, after waiting for 2 s.", camera_,
               static_cast<double>(sources_.pictures->displaced()));
  }
  append_mqtt(text);
  append_machine(text);
  append_process(text);
  return text.text();
}

}  // namespace lookout

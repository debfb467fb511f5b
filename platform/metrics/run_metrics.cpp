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
std::string fact_of(const ModelInfo& model, const char* name) {
  const auto facts = parse_json(model.archive);
  return facts.is_object() && facts.contains(name) && facts[name].is_string()
             ? facts[name].get<std::string>()
             : std::string();
}

constexpr std::size_t kHashDigits = 12;  // of a model's SHA-256: enough to tell models apart

bool has_name(const WatchInfoPtr& one, const WatchInfoPtr& other) {
  return one == other || (one && other && one->name == other->name);
}

// The time of each state of `model`, and of unknown, as it was with the model `before` (null: there
// was none); empty when there are too many.
std::vector<double> seconds_with(const ModelInfo& model, const ModelInfo* before,
                                 const std::vector<double>& seconds_before) {
  const auto& labels = model.labels;
  std::vector<double> seconds(labels.size() <= RunMetrics::kMaxStates ? labels.size() + 1 : 0);
  if (seconds.empty() || seconds_before.empty()) return seconds;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto same = std::find(before->labels.begin(), before->labels.end(), labels[i]);
    if (same != before->labels.end()) {
      seconds[i] = seconds_before[static_cast<std::size_t>(same - before->labels.begin())];
    }
  }
  seconds.back() = seconds_before.back();
  return seconds;
}

// In seconds since 1970. Computed once: the clocks that it is made of are read one after the other,
// and a value that changes would count as a restart.
double process_start() {
  static const double start =
      since_1970(std::chrono::system_clock::now()) - seconds_of(process_usage().age);
  return start;
}

void append_process(MetricsText& text) {
  const ProcessUsage usage = process_usage();
  text.gauge("process_resident_memory_bytes", "Resident memory.", {}, usage.resident_bytes);
  text.counter("process_cpu_seconds_total", "Processor time of all threads.", {},
               seconds_of(usage.cpu));
  text.gauge("process_start_time_seconds", "Start, in seconds since 1970.", {}, process_start());
  std::error_code unreadable;
  const std::filesystem::directory_iterator fds("/proc/self/fd", unreadable);
  text.gauge("process_open_fds", "Open file descriptors.", {}, std::distance(begin(fds), end(fds)));
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  text.gauge("process_max_fds", "Limit of open file descriptors.", {}, limit.rlim_cur);
}

// https://www.raspberrypi.com/documentation/computers/os.html#get_throttled
void append_throttled(const MachineState& machine, MetricsText& text) {
  const std::uint32_t bits = *machine.throttled;
  constexpr unsigned int kSinceBoot = 16;  // the same four bits again
  constexpr std::array<const char*, 4> kReasons{"under_voltage", "frequency_capped", "throttled",
                                                "soft_temperature_limit"};
  text.begin("lookout_throttled", "gauge", "1: the Raspberry Pi's firmware says so.");
  if (machine.voltage_alone) {
    text.add({{"reason", kReasons[0]}, {"when", "now"}}, bits & 1U);
    return;
  }
  for (unsigned int bit = 0; bit < kReasons.size(); ++bit) {
    text.add({{"reason", kReasons[bit]}, {"when", "now"}}, bits >> bit & 1U);
    text.add({{"reason", kReasons[bit]}, {"when", "boot"}}, bits >> (bit + kSinceBoot) & 1U);
  }
}

void append_machine(const MachineState& machine, MetricsText& text) {
  if (machine.temperature) {
    text.gauge("lookout_soc_temperature_celsius", "Temperature of the processor.", {},
               *machine.temperature);
  }
  if (machine.clock_mhz) {
    text.gauge("lookout_cpu_frequency_hertz", "Clock of the first processor.", {},
               *machine.clock_mhz * 1e6);
  }
  if (machine.throttled) append_throttled(machine, text);
}

void append_operators(const OperatorTable& table, const MetricLabels& camera, MetricsText& text) {
  struct Sums {
    double calls = 0;
    double sampled = 0;
    double self = 0;
    double total = 0;
  };
  std::map<std::string, Sums> operators;
  for (const OperatorRow& row : table.rows) {
    const bool known =
        operators.count(row.name) > 0 || operators.size() < RunMetrics::kMaxOperators;
    Sums& sums = operators[known ? row.name : "(other)"];
    sums.calls += row.calls;
    sums.sampled += static_cast<double>(row.sampled);
    sums.self += seconds_of(row.self);
    sums.total += seconds_of(row.total);
  }
  const auto append = [&](const char* name, const char* help, double Sums::*member) {
    text.begin(name, "counter", help);
    for (const auto& [type, sums] : operators) {
      text.add(with_label(camera, "operator", type), sums.*member);
    }
  };
  append("lookout_operator_calls_total", "Calls, estimated from those sampled.", &Sums::calls);
  append("lookout_operator_sampled_calls_total", "Calls that were measured.", &Sums::sampled);
  append("lookout_operator_self_seconds_total",
         "Time without the operators that it called, estimated.", &Sums::self);
  append("lookout_operator_seconds_total", "Time, estimated.", &Sums::total);
}

void append_history(const HistoryFigures& history, const MetricLabels& camera, MetricsText& text) {
  text.counter("lookout_history_changes_total", "Changes that were written to the history.", camera,
               history.written);
  text.counter("lookout_history_lost_total", "Changes that could not be written.", camera,
               history.lost);
  text.counter("lookout_history_pictures_total", "Pictures of changes that were written.", camera,
               history.pictures);
  text.counter("lookout_history_without_picture_total",
               "Changes whose picture was not written: there were too many, or too little room.",
               camera, history.without);
  text.counter("lookout_history_set_aside_total",
               "Databases that were damaged, and were set aside.", camera, history.set_aside);
  text.gauge("lookout_history_database_bytes", "Size of the database.", camera,
             static_cast<double>(history.bytes));
}

void append_mqtt(const MqttFigures& mqtt, const MetricLabels& camera, MetricsText& text) {
  text.gauge("lookout_mqtt_connected",
             "1: connected to the broker, and publishing: no other machine has the name.", camera,
             mqtt.connected);
  text.counter("lookout_mqtt_messages_total", "Messages that the broker received.", camera,
               mqtt.messages);
  text.counter("lookout_mqtt_dropped_total",
               "Messages that were not sent: a newer one came first, or there was no connection.",
               camera, mqtt.dropped);
}

void append_webhook(const WebhookFigures& webhook, const MetricLabels& camera, MetricsText& text) {
  text.counter("lookout_webhook_messages_total", "Messages that the web server took.", camera,
               webhook.sent);
  text.counter("lookout_webhook_failed_total",
               "Requests that failed or were refused; of a message there may be several.", camera,
               webhook.failed);
  text.counter("lookout_webhook_dropped_total",
               "Messages that were not sent: a newer one came first, or they were refused.", camera,
               webhook.dropped);
}

void append_gpio(const GpioFigures& gpio, const MetricLabels& camera, MetricsText& text) {
  text.gauge("lookout_gpio_active", "1: the line is active.", camera, gpio.active);
  text.gauge("lookout_gpio_pending",
             "1: the line is not what the state asks for, since it cannot be set.", camera,
             gpio.pending);
  text.counter("lookout_gpio_changes_total", "How often the line was set.", camera, gpio.changes);
  text.counter("lookout_gpio_failed_total",
               "Attempts that failed; of a change there may be several.", camera, gpio.failed);
}

}  // namespace

RunMetrics::RunMetrics(const RunInfo& info, MetricSources sources)
    : has_source_(!info.source.empty()),
      camera_{{"camera", info.camera}},
      sources_(std::move(sources)) {}

void RunMetrics::watching(const WatchList& watches) {
  Watches next;
  const MutexLock lock(mutex_);
  end_frame();
  for (const Watching& each : watches) {
    const auto before = std::find_if(watches_.begin(), watches_.end(), [&](const auto& one) {
      return has_name(one.watch, each.watch);
    });
    const bool stays = before != watches_.end();
    WatchCounters watch = stays ? std::move(*before) : WatchCounters();
    watch.watch = each.watch;
    if (watch.model != each.model) {
      watch.state_seconds = seconds_with(*each.model, watch.model.get(), watch.state_seconds);
      watch.model = each.model;
      watch.has_state = false;  // its number is the other model's
      watch.has_class = false;
    }
    watch.shares_region = std::any_of(next.begin(), next.end(), [&](const auto& one) {
      return one.model == each.model && one.watch->roi == each.watch->roi;
    });
    next.push_back(std::move(watch));
  }
  watches_ = std::move(next);
}

MetricLabels RunMetrics::labels_of(const WatchCounters& watch) const {
  return watch.watch ? with_label(camera_, "watch", watch.watch->name) : camera_;
}

void RunMetrics::record(const Result& result) {
  const auto now = Clock::now();
  const MutexLock lock(mutex_);
  counters_.captured = std::max(counters_.captured, result.sequence + 1);
  counters_.dropped = result.dropped;
  const auto found = std::find_if(watches_.begin(), watches_.end(), [&result](const auto& one) {
    return has_name(one.watch, result.watch);
  });
  if (found == watches_.end()) return;
  WatchCounters& watch = *found;
  if (watch.watch) {
    count_region(result, watch.shares_region);
  } else {
    count_frame(result);
  }
  ++watch.results;
  if (is_unsure(result)) ++watch.unsure;
  if (result.reused) {
    ++watch.reused;
  } else {
    watch.classified_frame = since_1970(result.timestamp);
  }
  if (watch.has_state && watch.last_result != Clock::time_point() &&
      watch.state < watch.state_seconds.size()) {
    watch.state_seconds[watch.state] += seconds_of(now - watch.last_result);
  }
  watch.last_result = now;
  const SceneState& state = result.state;
  watch.has_state = state.kind != SceneState::Kind::kNone;
  watch.has_class = state.kind == SceneState::Kind::kClass;
  watch.state = watch.has_class ? state.prediction.index : watch.model->labels.size();
  watch.state_score = state.prediction.score;
  if (!result.state_changed) return;
  ++watch.changes;
  watch.state_start = WallMoment(result.timestamp);
}

void RunMetrics::count_frame(const Result& result) {
  ++counters_.classified;
  if (result.reused) {
    ++counters_.reused;
    return;
  }
  counters_.capture.record(result.durations.capture);
  counters_.preprocess.record(result.durations.preprocess);
  counters_.inference.record(result.durations.inference);
  counters_.total.record(result.durations.total);
  counters_.frame_age.record(result.frame_age);
}

void RunMetrics::count_region(const Result& result, bool shares_region) {
  if (frame_ && frame_->sequence != result.sequence) end_frame();
  if (frame_) {
    if (!shares_region) add_region(result, *frame_);
    return;
  }
  frame_.emplace();
  frame_->sequence = result.sequence;
  frame_->frame_age = result.frame_age;
  frame_->durations = result.durations;
  frame_->reused = result.reused;
}

void RunMetrics::end_frame() {
  if (frame_) count_frame(*frame_);
  frame_.reset();
}

void RunMetrics::record(const StatsSnapshot& stats) {
  const MutexLock lock(mutex_);
  counters_.captured = std::max(counters_.captured, stats.captured);
  counters_.dropped = std::max(counters_.dropped, stats.dropped);
  counters_.unwanted = stats.unwanted;
  counters_.skipped = stats.skipped;
}

void RunMetrics::record(const CameraStatus& status) {
  const MutexLock lock(mutex_);
  if (!status.online) ++counters_.losses;
  counters_.online = status.online;
  end_frame();
  for (WatchCounters& watch : watches_) {
    watch.has_state = false;
    watch.has_class = false;
    watch.last_result = {};  // the time without a camera belongs to no state
  }
}

void RunMetrics::append_models(const Watches& watches, MetricsText& text) const {
  text.begin("lookout_model_info", "gauge", "The model.");
  for (const WatchCounters& watch : watches) {
    const ModelInfo& model = *watch.model;
    MetricLabels labels = labels_of(watch);
    labels.emplace_back("model", model.name);
    labels.emplace_back("weights", fact_of(model, "weights"));
    labels.emplace_back("quantization", fact_of(model, "quantization"));
    labels.emplace_back("sha256", model.sha256.substr(0, kHashDigits));
    text.add(labels, 1);
  }
  const auto has_failed = [](const auto& watch) { return !watch.model->failed.empty(); };
  if (std::none_of(watches.begin(), watches.end(), has_failed)) return;
  text.begin("lookout_model_fallback", "gauge",
             "The model installed before is used in place of this one, which failed.");
  for (const WatchCounters& watch : watches) {
    if (has_failed(watch)) text.add(with_label(labels_of(watch), "failed", watch.model->failed), 1);
  }
}

void RunMetrics::append_frames(const Counters& counters, MetricsText& text) const {
  text.gauge("lookout_camera_up", "1: the camera delivers frames; 0: it is away.", camera_,
             counters.online);
  text.counter("lookout_camera_losses_total", "How often the camera went away.", camera_,
               counters.losses);
  text.counter("lookout_frames_captured_total", "Frames read from the source.", camera_,
               counters.captured);
  text.counter("lookout_frames_classified_total", "Frames classified.", camera_,
               counters.classified);
  text.counter("lookout_frames_reused_total",
               "Of these, frames whose result is the last one's, since nothing had changed.",
               camera_, counters.reused);
  text.counter("lookout_frames_unwanted_total",
               "Frames that were not classified, since they came sooner than the rate allows.",
               camera_, counters.unwanted);
  text.counter("lookout_frames_skipped_total", "Frames that could not be read.", camera_,
               counters.skipped);
  text.counter("lookout_frames_dropped_total",
               "Frames that were never classified, since a newer one came first.", camera_,
               counters.dropped);
  text.begin("lookout_stage_duration_seconds", "histogram",
             "Time of a frame in each stage, but for reused results.");
  text.add(with_label(camera_, "stage", "capture"), counters.capture);
  text.add(with_label(camera_, "stage", "preprocess"), counters.preprocess);
  text.add(with_label(camera_, "stage", "inference"), counters.inference);
  text.add(with_label(camera_, "stage", "total"), counters.total);
  text.begin("lookout_frame_age_seconds", "histogram",
             "Time from the capture of a frame to its result, but for reused ones.");
  text.add(camera_, counters.frame_age);
}

void RunMetrics::append_certainty(const Watches& watches, MetricsText& text) const {
  text.begin("lookout_results_total", "counter",
             "Results, by whether the model was sure: of one class, and not almost of another.");
  for (const WatchCounters& watch : watches) {
    const MetricLabels labels = labels_of(watch);
    text.add(with_label(labels, "certainty", "sure"), watch.results - watch.unsure);
    text.add(with_label(labels, "certainty", "unsure"), watch.unsure);
  }
}

// Of watches with names, each of which may be classified at another rate.
void RunMetrics::append_watches(const Watches& watches, MetricsText& text) const {
  if (!watches.front().watch) return;
  text.begin("lookout_watch_results_total", "counter", "Results of each watch.");
  for (const WatchCounters& watch : watches) text.add(labels_of(watch), watch.results);
  text.begin("lookout_watch_reused_total", "counter",
             "Of these, results that are the last one again, since nothing had changed there.");
  for (const WatchCounters& watch : watches) text.add(labels_of(watch), watch.reused);
  text.begin(
      "lookout_watch_classified_time_seconds", "gauge",
      "When the frame was captured whose region was classified last, in seconds since 1970.");
  for (const WatchCounters& watch : watches) {
    if (watch.classified_frame > 0) text.add(labels_of(watch), watch.classified_frame);
  }
}

void RunMetrics::append_states(const Watches& watches, MetricsText& text) const {
  text.begin("lookout_state_changes_total", "counter", "Changes of the state.");
  for (const WatchCounters& watch : watches) text.add(labels_of(watch), watch.changes);
  const auto append = [&](const char* name, const char* help, const auto& value_of,
                          const auto& is_known) {
    if (std::none_of(watches.begin(), watches.end(), is_known)) return;
    text.begin(name, "gauge", help);
    for (const WatchCounters& watch : watches) {
      if (is_known(watch)) text.add(labels_of(watch), value_of(watch));
    }
  };
  append(
      "lookout_state_score", "Smoothed score of the state's class.",
      [](const auto& watch) { return watch.state_score; },
      [](const auto& watch) { return watch.has_class; });
  append(
      "lookout_state_start_time_seconds", "When the state began, in seconds since 1970.",
      [](const auto& watch) { return since_1970(watch.state_start.told()); },
      [](const auto& watch) { return watch.has_state && watch.changes > 0; });
  const auto has_seconds = [](const auto& watch) { return !watch.state_seconds.empty(); };
  if (std::none_of(watches.begin(), watches.end(), has_seconds)) return;
  text.begin("lookout_state_seconds_total", "counter", "Time that each state lasted.");
  for (const WatchCounters& watch : watches) {
    if (!has_seconds(watch)) continue;
    const auto& labels = watch.model->labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      // Two classes of one label are one state.
      const auto here = labels.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(labels.begin(), here, *here) != here) continue;
      text.add(with_label(labels_of(watch), "state", *here), watch.state_seconds[i]);
    }
    text.add(with_label(labels_of(watch), "state", "(unknown)"), watch.state_seconds.back());
  }
}

std::string RunMetrics::text() const {
  Counters counters;
  Watches watches;
  {
    const MutexLock lock(mutex_);
    counters = counters_;
    watches = watches_;
  }
  MetricsText text;
  text.gauge("lookout_build_info", "Versions of the program and its libraries.",
             {{"version", LOOKOUT_VERSION},
              {"library", fact_of(*watches.front().model, "library")},
              {"opencv", CV_VERSION}},
             1);
  append_models(watches, text);
  if (has_source_) {
    append_frames(counters, text);
    append_certainty(watches, text);
    append_watches(watches, text);
    append_states(watches, text);
  }
  if (sources_.operators) append_operators(sources_.operators(), camera_, text);
  const auto usage =
      sources_.api_usage ? sources_.api_usage() : std::map<std::string, std::uint64_t>();
  if (!usage.empty()) {
    text.begin("lookout_libtorch_api_usage", "gauge",
               "How often LibTorch reported that a feature is used, since the start.");
    text.add_each("event", usage);
  }
  if (sources_.pictures != nullptr) {
    text.counter("lookout_pictures_before_frames_total",
                 "Pictures of clients that went before a frame, after waiting for 2 s.", camera_,
                 sources_.pictures->displaced());
  }
  if (sources_.mqtt) append_mqtt(sources_.mqtt(), camera_, text);
  if (sources_.history) append_history(sources_.history(), camera_, text);
  if (sources_.webhook) append_webhook(sources_.webhook(), camera_, text);
  if (sources_.gpio) append_gpio(sources_.gpio(), camera_, text);
  if (sources_.machine) append_machine(sources_.machine(), text);
  append_process(text);
  return text.text();
}

}  // namespace lookout

#include "app/run/reporters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/model/model_trials.h"
#include "app/model/models.h"
#include "app/run/taught_run.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/run/open_model.h"
#include "platform/gpio/gpio_reporter.h"
#include "platform/history/history_reporter.h"
#include "platform/http/http_reporter.h"
#include "platform/mqtt/home_assistant.h"
#include "platform/mqtt/mqtt_client.h"
#include "platform/mqtt/mqtt_reporter.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/reporters/on_change_reporter.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/reporters/stdout_reporters.h"
#include "platform/reporters/systemd_notifier.h"
#include "platform/system/journal.h"
#include "platform/system/password.h"
#include "platform/system/results_output.h"
#include "platform/system/service.h"
#include "platform/system/system_info.h"
#include "platform/teach/opened_library.h"
#include "platform/teach/teach_reporter.h"
#include "platform/webhook/webhook_reporter.h"

namespace lookout {
namespace {

// Passes on the results of the watch `name`, and its models, as if it were the only one. That of
// the first watch leads: it passes on what is not about a watch, too.
class WatchReporter : public Reporter {
 public:
  WatchReporter(std::string name, std::unique_ptr<Reporter> to)
      : name_(std::move(name)), to_(std::move(to)) {}

  void watching(const WatchList& watches) override {
    const WatchInfoPtr& first = watches.front().watch;
    leads_ = first && first->name == name_;
    for (const Watching& each : watches) {
      if (each.watch && each.watch->name == name_) to_->watching({each});
    }
  }
  void report(const Result& result, const Frame& frame) override {
    if (!result.watch || result.watch->name != name_) return;
    to_->report(result, frame);
  }
  void tick(const StatsSnapshot& stats) override {
    if (leads_) to_->tick(stats);
  }
  void status(const CameraStatus& status) override {
    if (leads_) to_->status(status);
  }
  void poll() override { to_->poll(); }

 private:
  const std::string name_;
  bool leads_ = false;
  const std::unique_ptr<Reporter> to_;
};

const View& first_view(const ReporterParts& run) {
  return run.watches.front().watch.options.camera.view;
}

// Whether the result of one picture is printed for a reader at a terminal.
bool shows_picture(const ReporterParts& run) {
  return run.options.results.format == Format::kText && isatty(results_fd()) == 1 &&
         run.resolved.one_picture && !run.watches.front().info;
}

// The table with the rows that are asked for.
std::function<OperatorTable()> limited(const std::function<OperatorTable()>& operators,
                                       std::size_t rows) {
  if (!operators || rows == 0) return operators;
  return [operators, rows] {
    OperatorTable table = operators();
    if (table.rows.size() > rows) table.rows.resize(rows);
    return table;
  };
}

// A reporter that knows one state, for this watch.
std::unique_ptr<Reporter> for_watch(const OpenWatch& watch, std::unique_ptr<Reporter> reporter) {
  if (!reporter || !watch.info) return reporter;
  return std::make_unique<WatchReporter>(watch.info->name, std::move(reporter));
}

// Without any of these options the state is the best label of each frame, and is not shown.
bool has_steady_state(const SceneOptions& state) {
  return state.smoothing.count() > 0 || state.min_duration.count() > 0 || state.enter_threshold ||
         state.leave_threshold;
}

// Whether the state's changes alone are written.
bool writes_changes(const ReporterParts& run) {
  const Results write = run.options.results.write;
  return write == Results::kAuto ? is_journal(results_fd()) : write == Results::kChanges;
}

// Whether all watches are shown on a terminal, in place.
bool has_display(const ReporterParts& run) {
  return run.options.results.format == Format::kText && run.info.live && can_redraw(results_fd()) &&
         !writes_changes(run);
}

std::unique_ptr<Reporter> make_display(const ReporterParts& run) {
  if (isatty(STDERR_FILENO) == 1) run.output.log_above_display.emplace(run.output.terminal);
  return std::make_unique<TerminalReporter>(
      run.output.terminal, run.info, run.options.results.top_k,
      has_steady_state(run.watches.front().watch.options.state));
}

// Null when there is a display.
std::unique_ptr<Reporter> make_result_reporter(const ReporterParts& run, const OpenWatch& watch) {
  if (has_display(run)) return nullptr;
  const ResultOptions& results = run.options.results;
  const bool shows_state = has_steady_state(watch.watch.options.state);
  const bool changes = writes_changes(run);
  std::unique_ptr<Reporter> reporter;
  if (results.format == Format::kJson) {
    reporter = std::make_unique<JsonReporter>(run.output.lines, JsonFormat(run.info),
                                              limited(run.operators, run.options.profile.op_rows));
  } else if (shows_picture(run)) {
    reporter = std::make_unique<PictureReporter>(run.output.lines, results_fd(), shows_state);
  } else {
    // In the journal the state is the news, and the other predictions fill the disk.
    reporter = std::make_unique<TextReporter>(
        run.output.lines, shows_state, changes && is_journal(results_fd()) ? 1 : kAllPredictions);
  }
  if (changes) reporter = std::make_unique<ChangesReporter>(std::move(reporter));
  return reporter;
}

// Commands and pictures. Null when the options ask for neither.
std::unique_ptr<Reporter> make_change_reporter(const ReporterParts& run, const OpenWatch& watch,
                                               std::shared_ptr<SnapshotWatches> snapshot_watches) {
  const EventOptions& events = watch.watch.options.events;
  const RunInfo& info = run.info;
  const bool is_first = &watch == &run.watches.front();
  const auto saves_changes = [](const OpenWatch& each) {
    return each.watch.options.events.snapshot_when == SnapshotWhen::kChange;
  };
  if (is_first && run.options.events.unsure_below != EventOptions().unsure_below &&
      std::all_of(run.watches.begin(), run.watches.end(), saves_changes)) {
    log_warn("events.unsure-below does nothing unless events.snapshot-when is unsure or both");
  }
  std::unique_ptr<SnapshotReporter> snapshots;
  if (!events.snapshot_on_change.empty()) {
    SnapshotTrigger trigger;
    trigger.changes = events.snapshot_when != SnapshotWhen::kUnsure;
    trigger.waits = !info.live;
    if (events.snapshot_when != SnapshotWhen::kChange) {
      trigger.unsure_below = static_cast<float>(events.unsure_below);
    }
    snapshots = std::make_unique<SnapshotReporter>(
        SnapshotFolder(events.snapshot_on_change, info.camera, events.snapshot_limit,
                       {watch.watch.name, std::move(snapshot_watches)}),
        events.snapshot_cooldown, trigger);
  }
  if (events.on_change.empty()) return snapshots;
  OnChangeOptions on_change;
  on_change.command = events.on_change;
  on_change.time_limit = events.on_change_timeout;
  return std::make_unique<OnChangeReporter>(on_change, info.camera, std::move(snapshots));
}

// What make_result_reporter() takes of a watch that a reload may change.
std::string result_key(const ReporterParts& run, const OpenWatch& watch) {
  return fmt::format("results {} {} {}", watch.watch.name,
                     has_steady_state(watch.watch.options.state), run.options.results.top_k);
}

// What make_change_reporter() takes.
std::string change_key(const ReporterParts& /*run*/, const OpenWatch& watch) {
  const EventOptions& events = watch.watch.options.events;
  return fmt::format("changes {} {} {} {} {} {} {} {}", watch.watch.name,
                     fmt::join(events.on_change, "\n"), events.on_change_timeout.count(),
                     events.snapshot_on_change, static_cast<int>(events.snapshot_when),
                     events.unsure_below, events.snapshot_cooldown.count(), events.snapshot_limit);
}

// Pixels of the history's pictures where these may be taught: a region of a third of the picture
// then still has more than models look at.
constexpr int kTaughtHistorySide = 960;

// Null when nothing is to be remembered.
std::unique_ptr<Reporter> make_history_reporter(const ReporterParts& run,
                                                std::shared_ptr<HistoryReaders> readers,
                                                std::shared_ptr<HistoryCounters> counters) {
  const KeptHistory& history = run.options.history;
  if (history.folder.empty()) return nullptr;
  HistoryOptions kept;
  kept.folder = history.folder;
  kept.limits.changes = std::chrono::hours(24) * history.days;
  kept.limits.picture_bytes = static_cast<std::int64_t>(
      std::min<std::uint64_t>(history.picture_limit, std::numeric_limits<std::int64_t>::max()));
  kept.pictures_a_day = history.pictures_a_day;
  if (!teach_folder(run.options).empty()) kept.picture_side = kTaughtHistorySide;
  kept.readers = std::move(readers);
  kept.counters = std::move(counters);
  return std::make_unique<HistoryReporter>(std::move(kept), run.options.camera.view);
}

// The address of our HTTP server for browsers elsewhere; empty: they cannot reach it.
std::string page_address(std::optional<HttpAddress> address) {
  if (!address || is_loopback(*address) || address->port == 0) return {};
  if (address->host == "0.0.0.0" || address->host == "::") {
    const std::string host = host_name();
    if (host.empty()) return {};
    address->host = host + ".local";
  }
  return to_text(*address);
}

DiscoveryFacts discovery_facts(const ReporterParts& run) {
  const MqttOptions& mqtt = run.options.mqtt;
  const MachineState machine = read_machine_state();
  DiscoveryFacts facts;
  facts.pictures = mqtt.pictures == MqttPictures::kChanges;
  facts.commands = run.paused != nullptr;
  facts.has_temperature = machine.temperature.has_value();
  facts.has_throttling = machine.throttled.has_value();
  facts.voltage_alone = machine.voltage_alone;
  facts.stats_interval =
      std::chrono::ceil<std::chrono::seconds>(std::max(mqtt.interval, run.resolved.stats_interval));
  facts.page = page_address(run.resolved.http_address);
  return facts;
}

// The camera's name on the broker: the user's, or one that differs between machines.
std::string mqtt_camera(const ReporterParts& run) {
  const std::string host = host_name();
  if (!run.options.camera.name.empty() || host.empty()) return run.info.camera;
  return host + "-" + run.info.camera;
}

// Null when nothing is to be published.
std::unique_ptr<Reporter> make_mqtt_reporter(const ReporterParts& run,
                                             const std::shared_ptr<MqttCounters>& counters) {
  const MqttOptions& mqtt = run.options.mqtt;
  if (!run.resolved.mqtt) {
    if (mqtt.commands) log_warn("mqtt.commands does nothing without --mqtt URL");
    return nullptr;
  }
  if (run.info.source.empty()) {
    log_warn("mqtt: without a source there is nothing to publish");
    return nullptr;
  }
  MqttFeedOptions feed;
  feed.info = run.info;
  feed.info.camera = mqtt_camera(run);
  feed.machine = {machine_id(), host_name()};
  feed.topics = mqtt_topics(mqtt.prefix, feed.info.camera, feed.machine.id, mqtt.discovery);
  feed.view = first_view(run);
  feed.pictures = mqtt.pictures == MqttPictures::kChanges;
  feed.interval = mqtt.interval;
  feed.commands = mqtt.commands;
  if (run.paused) {
    feed.enable = [paused = run.paused, &wake = run.wake](bool enabled) {
      *paused = !enabled;
      wake.wake();
    };
  }
  if (!mqtt.discovery.empty()) {
    feed.discovery = [topics = feed.topics, camera = feed.info.camera,
                      facts = discovery_facts(run)](const WatchList& watches,
                                                    const std::set<std::string>& removed) {
      return discovery_payload(topics, camera, watches, removed, facts);
    };
  }
  MqttLinkOptions link = *run.resolved.mqtt;
  link.settings.client_id = link.party.client_id = feed.topics.client_id;
  link.settings.will = MqttMessage{feed.topics.available, "offline", /*qos=*/1, /*retained=*/true};
  return std::make_unique<MqttReporter>(std::move(link), std::move(feed), open_mosquitto, counters);
}

// Null when no messages are to be sent.
std::unique_ptr<Reporter> make_webhook_reporter(const ReporterParts& run,
                                                const std::shared_ptr<WebhookCounters>& counters) {
  if (!run.resolved.webhook) {
    const WebhookOptions& webhook = run.options.webhook;
    const bool is_meant = !webhook.body.empty() || !webhook.form.empty() ||
                          !webhook.headers.empty() || !webhook.picture.empty();
    if (is_meant) log_warn("webhook: nothing is sent without webhook.url or webhook.url-file");
    return nullptr;
  }
  if (run.info.source.empty()) {
    log_warn("webhook: without a source there is nothing to send");
    return nullptr;
  }
  WebhookReporterOptions webhook;
  webhook.camera = run.info.camera;
  webhook.view = first_view(run);
  // What it sees in a camera's picture is nobody's business: it knows test patterns alone.
  if (run.options.camera.source.rfind("test://", 0) != 0) webhook.mute_model = kSelftestModel;
  return std::make_unique<WebhookReporter>(*run.resolved.webhook, std::move(webhook), counters);
}

// Null when no line is to be set; else there are `counters`.
std::unique_ptr<Reporter> make_gpio_reporter(const ReporterParts& run,
                                             std::shared_ptr<GpioCounters>& counters) {
  if (!run.resolved.gpio) {
    if (!run.options.gpio.states.empty()) log_warn("gpio.states does nothing without gpio.line");
    return nullptr;
  }
  if (run.info.source.empty()) {
    log_warn("gpio: without a source there is no state for a line");
    return nullptr;
  }
  GpioReporterOptions gpio = *run.resolved.gpio;
  gpio.counters = counters = std::make_shared<GpioCounters>();
  return std::make_unique<GpioReporter>(std::move(gpio));
}

// Opens the library of what owners teach. Whatever is wrong with it, the run goes on: there is no
// Teaching then.
TeachServiceOptions open_teaching(const ReporterParts& run) {
  TeachServiceOptions teach;
  if (!run.resolved.http_password || run.info.source.empty()) return teach;
  const auto warn = [](const std::string& why) {
    log_warn("http.teach: nothing can be taught: {}", why);
  };
  const std::filesystem::path folder = teach_folder(run.options);
  if (folder.empty()) {
    warn(
        "that needs a service, which has a folder for it: sudo lookout setup, or "
        "STATE_DIRECTORY=DIR");
    return teach;
  }
  try {
    OpenedLibrary opened = open_library(folder);
    if (!opened.damage.empty()) {
      teach.damaged_file = opened.damaged_file.string();
      teach.damage = fmt::format(
          "what was taught before is damaged ({}): it is kept as {}, and nothing of it is shown",
          opened.damage, teach.damaged_file);
      log_warn("http.teach: {}", teach.damage);
    }
    const std::string damaged = note_of_damaged(folder);
    if (!damaged.empty()) log_info("http.teach: {}", damaged);
    teach.teaching = std::make_shared<Teaching>(std::move(opened.library), run.trainer);
    teach.trainer = run.trainer;
  } catch (const std::filesystem::filesystem_error& error) {
    warn(fmt::format("{} cannot be used: {}", folder.string(), error.code().message()));
  } catch (const std::exception& error) {
    warn(fmt::format("{} cannot be used: {}", folder.string(), error.what()));
  }
  return teach;
}

// What the HTTP server and other reporters share.
struct SharedWithHttp {
  std::shared_ptr<const MqttCounters> mqtt;        // null: nothing is published
  std::shared_ptr<const WebhookCounters> webhook;  // null: no messages are sent
  std::shared_ptr<const HistoryCounters> history;  // null: nothing is remembered
  std::shared_ptr<const GpioCounters> gpio;        // null: no line is set
  std::shared_ptr<HistoryReaders> readers;
};

HistoryFigures figures_of(const HistoryCounters& counters, const std::filesystem::path& folder) {
  std::error_code absent;
  const std::uintmax_t bytes = std::filesystem::file_size(folder / kHistoryFile, absent);
  return {counters.written, counters.lost,      counters.pictures,
          counters.without, counters.set_aside, absent ? 0 : bytes};
}

MetricSources metric_sources(const ReporterParts& run, const SharedWithHttp& shared) {
  MetricSources metrics{run.operators, [] { return read_machine_state(); }, &run.pictures, {}, {},
                        api_usage};
  if (shared.history) {
    metrics.history = [counters = shared.history, folder = run.options.history.folder] {
      return figures_of(*counters, folder);
    };
  }
  if (const auto mqtt = shared.mqtt) {
    metrics.mqtt = [mqtt] { return MqttFigures{mqtt->publishes, mqtt->messages, mqtt->dropped}; };
  }
  if (const auto webhook = shared.webhook) {
    metrics.webhook = [webhook] {
      return WebhookFigures{webhook->sent, webhook->failed, webhook->dropped};
    };
  }
  if (const auto gpio = shared.gpio) {
    metrics.gpio = [gpio] {
      return GpioFigures{gpio->active, gpio->pending, gpio->changes, gpio->failed};
    };
  }
  return metrics;
}

// Null when there is neither an address nor a socket of systemd.
std::unique_ptr<Reporter> make_http_reporter(const ReporterParts& run,
                                             std::unique_ptr<ListenSockets> sockets,
                                             SharedWithHttp shared, TeachServiceOptions teach) {
  const HttpOptions& http = run.options.http;
  if (sockets->fds().empty()) return nullptr;
  if (sockets->are_public()) require_token(http, sockets->names().front());
  HttpServiceOptions service;
  service.access = run.resolved.http_access;
  // A password takes the place of a token when nobody sees anything without it.
  const bool is_open = !sockets->are_public() || http.insecure || !http.token_file.empty();
  service.guests = http.guests && is_open;
  service.view.view = first_view(run);
  service.view.max_viewers = http.viewers;
  service.pictures = &run.pictures;
  service.predict.pixels = http.max_pixels;
  service.predict_rate = http.predict_rate;
  if (run.info.source.empty()) {
    service.predict.threads = static_cast<std::size_t>(run.options.model.workers) + 1;
    service.predict.in_background = false;
  }
  HttpLimits limits;
  limits.clients = http.clients;
  // One address has a quarter of all, which a request fits into.
  limits.upload =
      std::min<std::size_t>(http.max_upload, std::numeric_limits<std::size_t>::max() / 4);
  limits.uploads = std::max(limits.uploads, 4 * limits.upload);
  service.max_upload = limits.upload;
  if (const auto& password = run.resolved.http_password) {
    const std::filesystem::path folder = state_folder();
    service.login = LoginOptions{*password, folder.empty() ? folder : folder / "sessions"};
    if (read_password_hash(*password).empty()) {
      log_warn("http.teach: nobody can log in until there is a password: lookout password");
    }
  }
  service.teach = std::move(teach);
  if (!run.info.source.empty()) service.history = run.options.history.folder;
  service.history_readers = std::move(shared.readers);
  if (!service.history.empty()) {
    service.teach.event_picture = [folder = service.history](const std::string& watch,
                                                             std::int64_t number) {
      return read_event_picture(folder, watch, number);
    };
  }
  MetricSources metrics = metric_sources(run, shared);
  return std::make_unique<HttpReporter>(std::move(sockets), run.info, std::move(service), limits,
                                        std::move(metrics));
}

}  // namespace

ResultOutput::ResultOutput(bool live, std::atomic<bool>& stop)
    : lines(results_fd(), "stdout",
            live ? NonBlockingWriter::WhenFull::kDrop : NonBlockingWriter::WhenFull::kWait, stop,
            is_journal(results_fd()) ? NonBlockingWriter::WhenClosed::kFail
                                     : NonBlockingWriter::WhenClosed::kStop),
      terminal(results_fd(), lines) {}

std::vector<std::shared_ptr<Reporter>> make_watch_reporters(const ReporterParts& run,
                                                            WatchReporters& reporters) {
  std::vector<std::shared_ptr<Reporter>> all;
  if (run.info.source.empty()) return all;
  struct Kind {
    std::string (*key)(const ReporterParts& run, const OpenWatch& watch);
    std::function<std::unique_ptr<Reporter>(const ReporterParts& run, const OpenWatch& watch)> make;
  };
  const auto make_change = [&reporters](const ReporterParts& parts, const OpenWatch& watch) {
    return make_change_reporter(parts, watch, reporters.snapshots);
  };
  WatchReporters now{{}, reporters.snapshots};
  for (const auto& [key_of, make] :
       {Kind{result_key, make_result_reporter}, Kind{change_key, make_change}}) {
    for (const OpenWatch& watch : run.watches) {
      const std::string key = key_of(run, watch);
      const auto found = reporters.made.find(key);
      std::shared_ptr<Reporter> reporter =
          found != reporters.made.end() ? found->second : for_watch(watch, make(run, watch));
      now.made[key] = reporter;
      if (reporter) all.push_back(std::move(reporter));
    }
  }
  reporters = std::move(now);
  std::vector<std::string> names;
  for (const OpenWatch& watch : run.watches) names.push_back(watch.watch.name);
  reporters.snapshots->set(names);
  return all;
}

RunReporters make_reporters(const ReporterParts& run) {
  RunReporters reporters;
  const auto add = [&reporters](std::unique_ptr<Reporter> reporter) {
    const bool made = reporter != nullptr;
    if (made) reporters.all.push_back(std::move(reporter));
    return made;
  };
  const bool has_source = !run.info.source.empty();
  const auto history_readers = std::make_shared<HistoryReaders>();
  auto history_counters = std::make_shared<HistoryCounters>();
  if (has_source) {
    if (has_display(run)) add(make_display(run));
    LogStyle log;
    log.display = run.output.log_above_display.has_value();
    log.summary = !shows_picture(run);
    if (isatty(STDERR_FILENO) == 1) log.terminal = STDERR_FILENO;
    add(std::make_unique<LogReporter>(log));
  }
  if (!has_source || !add(make_history_reporter(run, history_readers, history_counters))) {
    history_counters.reset();
  }
  add(std::make_unique<OperatorReporter>(run.operators, run.options.profile.op_rows,
                                         run.operators_asked));
  add(std::make_unique<SystemdNotifier>(has_source));
  add(make_trial_reporter(run.trials, has_source, run.info.live));
  auto counters = std::make_shared<MqttCounters>();
  if (!add(make_mqtt_reporter(run, counters))) counters.reset();
  auto messages = std::make_shared<WebhookCounters>();
  if (!add(make_webhook_reporter(run, messages))) messages.reset();
  std::shared_ptr<GpioCounters> line;
  add(make_gpio_reporter(run, line));
  auto sockets = std::make_unique<ListenSockets>(run.resolved.http_address);
  TeachServiceOptions teach = sockets->fds().empty() ? TeachServiceOptions() : open_teaching(run);
  if (teach.teaching) add(std::make_unique<TeachReporter>(teach.teaching, first_view(run)));
  reporters.take_pictures = add(make_http_reporter(
      run, std::move(sockets), {counters, messages, history_counters, line, history_readers},
      std::move(teach)));
  if (!has_source && !reporters.take_pictures) {
    throw Error(ErrorKind::kConfig,
                "there is neither a source nor an HTTP server: --http 127.0.0.1:8090 starts one");
  }
  if (has_source && run.options.results.overlay) {
    auto overlay = std::make_unique<OverlayReporter>(run.info, first_view(run), run.stop);
    reporters.overlay = overlay.get();
    add(std::move(overlay));
  }
  return reporters;
}

}  // namespace lookout

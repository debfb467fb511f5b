#include "app/run/reporters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "app/run/http.h"
#include "app/run/mqtt.h"
#include "app/run/run.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/reporters/changes_reporter.h"
#include "platform/reporters/on_change_reporter.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/reporters/stdout_reporters.h"
#include "platform/reporters/systemd_notifier.h"
#include "platform/system/journal.h"
#include "platform/system/results_output.h"

namespace lookout {
namespace {

Results results_to_write(Results option) {
  if (option != Results::kAuto) return option;
  return is_journal(results_fd()) ? Results::kChanges : Results::kAll;
}

// Without any of these options the state is the best label of each frame, and is not shown.
bool states_are_configured(const RunOptions& options) {
  return options.state.smoothing.count() > 0 || options.state.min_duration.count() > 0 ||
         options.state.enter_threshold || options.state.leave_threshold;
}

// Whether the result of one picture is printed for a reader at a terminal.
bool shows_picture(const RunOptions& options) {
  return options.results.format == Format::kText && isatty(results_fd()) == 1 &&
         is_one_picture(options.camera.source);
}

std::unique_ptr<Reporter> make_terminal_reporter(const RunOptions& options, const RunInfo& info,
                                                 ResultOutput& output) {
  if (isatty(STDERR_FILENO) == 1) output.log_above_display.emplace(output.terminal);
  const std::size_t lines = std::min(options.results.top_k, info.labels.size());
  return std::make_unique<TerminalReporter>(
      output.terminal, fmt::format("{}: {} ({})", info.camera, info.model, info.source), lines,
      states_are_configured(options));
}

std::unique_ptr<Reporter> make_result_reporter(const RunOptions& options, const RunInfo& info,
                                               const std::function<OperatorTable()>& operators,
                                               ResultOutput& output) {
  const bool changes = results_to_write(options.results.write) == Results::kChanges;
  std::unique_ptr<Reporter> reporter;
  if (options.results.format == Format::kJson) {
    reporter = std::make_unique<JsonReporter>(output.lines, JsonFormat(info), operators);
  } else if (info.live && !changes && can_redraw(results_fd())) {
    reporter = make_terminal_reporter(options, info, output);
  } else if (shows_picture(options)) {
    reporter = std::make_unique<PictureReporter>(output.lines, results_fd(),
                                                 states_are_configured(options));
  } else {
    // In the journal the state is the news, and the other predictions fill the disk.
    const bool brief = changes && is_journal(results_fd());
    reporter = std::make_unique<TextReporter>(output.lines, states_are_configured(options),
                                              brief ? 1 : kAllPredictions);
  }
  if (changes) reporter = std::make_unique<ChangesReporter>(std::move(reporter));
  return reporter;
}

SnapshotTrigger snapshot_trigger(const EventOptions& events, const RunInfo& info) {
  SnapshotTrigger trigger;
  trigger.changes = events.snapshot_when != SnapshotWhen::kUnsure;
  trigger.unknown = info.unknown;
  trigger.waits = !info.live;
  if (events.snapshot_when != SnapshotWhen::kChange) {
    trigger.unsure_below = static_cast<float>(events.unsure_below);
  }
  return trigger;
}

void add_change_reporters(const RunOptions& options, const RunInfo& info,
                          std::vector<std::unique_ptr<Reporter>>& reporters) {
  const EventOptions& events = options.events;
  if (events.snapshot_when == SnapshotWhen::kChange &&
      events.unsure_below != EventOptions().unsure_below) {
    log_warn("events.unsure-below does nothing without --snapshot-when unsure or both");
  }
  std::unique_ptr<SnapshotReporter> snapshots;
  if (!events.snapshot_on_change.empty()) {
    snapshots = std::make_unique<SnapshotReporter>(
        SnapshotFolder(events.snapshot_on_change, info.camera, events.snapshot_limit),
        events.snapshot_cooldown, snapshot_trigger(events, info));
  }
  if (!events.on_change.empty()) {
    OnChangeOptions on_change;
    on_change.command = events.on_change;
    on_change.time_limit = events.on_change_timeout;
    reporters.push_back(std::make_unique<OnChangeReporter>(on_change, info, std::move(snapshots)));
  } else if (snapshots) {
    reporters.push_back(std::move(snapshots));
  }
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

void add_frame_reporters(const RunOptions& options, const RunInfo& info,
                         const std::function<OperatorTable()>& operators, ResultOutput& output,
                         std::vector<std::unique_ptr<Reporter>>& reporters) {
  reporters.push_back(
      make_result_reporter(options, info, limited(operators, options.profile.op_rows), output));
  LogStyle log;
  log.display = output.log_above_display.has_value();
  log.summary = !shows_picture(options);
  if (isatty(STDERR_FILENO) == 1) log.terminal = STDERR_FILENO;
  reporters.push_back(std::make_unique<LogReporter>(log));
  add_change_reporters(options, info, reporters);
}

// Returns the counters of what is published; null: nothing is.
std::shared_ptr<const MqttCounters> add_mqtt_reporter(const RunOptions& options,
                                                      const RunInfo& info, const RunFlags& flags,
                                                      RunReporters& reporters) {
  if (options.mqtt.url.empty()) {
    if (options.mqtt.commands) log_warn("mqtt.commands does nothing without --mqtt URL");
    return nullptr;
  }
  if (info.source.empty()) {
    log_warn("mqtt: without a source there is nothing to publish");
    return nullptr;
  }
  auto counters = std::make_shared<MqttCounters>();
  reporters.all.push_back(make_mqtt_reporter(options, info, counters, flags.paused));
  return counters;
}

}  // namespace

ResultOutput::ResultOutput(bool live, std::atomic<bool>& stop)
    : lines(results_fd(), "stdout",
            live ? NonBlockingWriter::WhenFull::kDrop : NonBlockingWriter::WhenFull::kWait, stop),
      terminal(results_fd(), lines) {}

RunReporters make_reporters(const RunOptions& options, const RunInfo& info,
                            const std::function<OperatorTable()>& operators, ResultOutput& output,
                            const RunFlags& flags, PictureQueue& pictures) {
  RunReporters reporters;
  auto& all = reporters.all;
  const bool has_source = !info.source.empty();
  if (has_source) add_frame_reporters(options, info, operators, output, all);
  all.push_back(std::make_unique<OperatorReporter>(operators, options.profile.op_rows,
                                                   flags.operators_asked));
  all.push_back(std::make_unique<SystemdNotifier>(has_source));
  const auto mqtt = add_mqtt_reporter(options, info, flags, reporters);
  if (auto http =
          make_http_reporter(options, info, {operators, mqtt}, pictures, flags.jpegs_wanted)) {
    all.push_back(std::move(http));
    reporters.take_pictures = true;
  }
  if (!has_source && !reporters.take_pictures) {
    throw Error(ErrorKind::kConfig,
                "there is neither a source nor an HTTP server: --http 127.0.0.1:8090 starts one");
  }
  if (has_source && options.results.overlay) {
    auto overlay = std::make_unique<OverlayReporter>(info, options.camera.view, flags.stop);
    reporters.overlay = overlay.get();
    all.push_back(std::move(overlay));
  }
  return reporters;
}

}  // namespace lookout

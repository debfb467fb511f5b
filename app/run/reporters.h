// The reporters of a run.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model/model_trials.h"
#include "app/options/resolved_run.h"
#include "app/output/log.h"
#include "app/run/run_watches.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/wake_event.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"
#include "pipeline/run/picture_queue.h"
#include "platform/overlay/overlay_reporter.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/reporters/terminal.h"
#include "platform/system/non_blocking_writer.h"
#include "platform/teach/teach_trainer.h"

namespace lookout {

// stdout, to which reporters write results. Outlives them.
struct ResultOutput {
  // Lines are dropped when the reader is slow and the source is `live`; else the reader is waited
  // for. `stop` becomes true when the reader has gone away.
  ResultOutput(bool live, std::atomic<bool>& stop);

  NonBlockingWriter lines;
  Terminal terminal;
  std::optional<LogAboveDisplay> log_above_display;
};

// What reporters are made from. All that this refers to outlives them.
struct ReporterParts {
  const RunOptions& options;
  const std::vector<OpenWatch>& watches;
  const ResolvedRun& resolved;
  const RunInfo& info;
  std::function<OperatorTable()> operators;  // measured so far; empty: operators are not sampled
  ResultOutput& output;
  PictureQueue& pictures;                     // those of HTTP clients
  std::atomic<bool>& stop;                    // set by a reporter that ends the run
  std::atomic<bool>& operators_asked;         // set from outside: log the table of the operators
  std::shared_ptr<std::atomic<bool>> paused;  // set by a reporter; null: the source goes on
  const WakeEvent& wake;                      // who sets `paused` wakes it
  ModelTrials& trials;                        // of models that were installed
  std::shared_ptr<TeachTrainer> trainer;      // null: nothing can be taught
};

struct RunReporters {
  std::vector<std::unique_ptr<Reporter>> all;
  OverlayReporter* overlay = nullptr;  // one of them; null: there is no window
  bool take_pictures = false;          // one of them gives pictures of clients to the queue
};

// Reporters of the plans.
struct WatchReporters {
  std::map<std::string, std::shared_ptr<Reporter>> made;  // by what they were made from
  std::shared_ptr<SnapshotWatches> snapshots = std::make_shared<SnapshotWatches>();
};

// Makes the reporters of a plan, which know one watch each: what is printed of it, its commands and
// pictures. Those in `reporters` whose options are the same are taken again, with what they do just
// then; then `reporters` has these. Call it before make_reporters(). Throws Error when a folder
// cannot be used.
std::vector<std::shared_ptr<Reporter>> make_watch_reporters(const ReporterParts& run,
                                                            WatchReporters& reporters);

// Makes the other reporters that the options ask for. Throws Error when a folder, a window or an
// address cannot be used, or when there is neither a source nor an HTTP server.
RunReporters make_reporters(const ReporterParts& run);

}  // namespace lookout

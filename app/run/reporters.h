// The reporters of a run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/options/options.h"
#include "app/output/log.h"
#include "pipeline/core/reporter.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"
#include "pipeline/run/picture_queue.h"
#include "platform/overlay/overlay_reporter.h"
#include "platform/reporters/terminal.h"
#include "platform/system/non_blocking_writer.h"

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

// Flags of the program that reporters set or read.
struct RunFlags {
  std::atomic<bool>& stop;                    // set by a reporter that ends the run
  std::atomic<bool>& operators_asked;         // set from outside: log the table of the operators
  std::atomic<bool>& jpegs_wanted;            // set for the source: see SourceOptions
  std::shared_ptr<std::atomic<bool>> paused;  // set by a reporter; null: the source goes on
};

struct RunReporters {
  std::vector<std::unique_ptr<Reporter>> all;
  OverlayReporter* overlay = nullptr;  // one of them; null: there is no window
  bool take_pictures = false;          // one of them gives pictures of clients to the queue
};

// Makes the reporters that the options ask for. `operators` returns what was measured so far;
// empty: operators are not sampled. `pictures` outlives them. Throws Error when a folder or a
// window cannot be used, or when there is neither a source nor an HTTP server.
RunReporters make_reporters(const RunOptions& options, const RunInfo& info,
                            const std::function<OperatorTable()>& operators, ResultOutput& output,
                            const RunFlags& flags, PictureQueue& pictures);

}  // namespace lookout

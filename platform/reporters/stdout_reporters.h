// The reporters of the command line: text lines, JSON lines, a display on a terminal, and the log.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/core/reporter.h"
#include "pipeline/results/format.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/statistics.h"
#include "platform/reporters/terminal.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {

// Writes one line of text a frame. The log has the camera's loss and return.
class TextReporter : public Reporter {
 public:
  // With `states` each line ends with the state. Without, the state is the first prediction. No
  // line has more than `max_predictions`.
  explicit TextReporter(NonBlockingWriter& output, bool states = false,
                        std::size_t max_predictions = kAllPredictions)
      : output_(output), states_(states), max_predictions_(max_predictions) {}
  void report(const Result& result, const Frame& frame) override;

 private:
  NonBlockingWriter& output_;
  bool states_;
  std::size_t max_predictions_;
  std::string line_;
};

// Writes one JSON object a line: for each frame, each change of the state, each statistics
// interval, each loss and return of the camera, and at the end. A change of the state that is
// dropped because the reader is slow is written with the next line.
class JsonReporter : public Reporter {
 public:
  // `operators` returns what was measured so far; empty: operators are not sampled.
  JsonReporter(NonBlockingWriter& output, JsonFormat format,
               std::function<OperatorTable()> operators = {})
      : output_(output), format_(std::move(format)), operators_(std::move(operators)) {}
  void watching(const WatchList& watches) override { format_.use(watches.front().model); }
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  // `append` gets the lines to write, which it adds to.
  template <typename Append>
  void write(Append append);

  NonBlockingWriter& output_;
  JsonFormat format_;
  std::function<OperatorTable()> operators_;
  std::string pending_state_;  // a line, until it is written
  std::string line_;
};

// For a journal: passes on the results that change the state, and everything that is not a result.
class ChangesReporter : public Reporter {
 public:
  explicit ChangesReporter(std::unique_ptr<Reporter> to) : to_(std::move(to)) {}
  void watching(const WatchList& watches) override { to_->watching(watches); }
  void report(const Result& result, const Frame& frame) override {
    if (result.state_changed) to_->report(result, frame);
  }
  void tick(const StatsSnapshot& stats) override { to_->tick(stats); }
  void status(const CameraStatus& status) override { to_->status(status); }
  void poll() override { to_->poll(); }

 private:
  std::unique_ptr<Reporter> to_;
};

// Prints the result of one picture: its name, and its predictions with bars. Predictions below half
// a percent are left out, but for the first.
class PictureReporter : public Reporter {
 public:
  // `fd` is the terminal that `output` writes to.
  PictureReporter(NonBlockingWriter& output, int fd, bool states)
      : output_(output), fd_(fd), states_(states) {}
  void report(const Result& result, const Frame& frame) override;

 private:
  NonBlockingWriter& output_;
  int fd_;
  bool states_;
};

// Redraws the top predictions with bars, rates and latency in place, at most ten times a second;
// while the camera is away, for how long. Predictions below half a percent are left out, but for
// the first: their order changes with each frame. Named watches have a line each with their state,
// and where the terminal is high enough one more with the first prediction.
class TerminalReporter : public Reporter {
 public:
  // The first line is `front: mobilenet_v2 (the source)`, without a model when watches have names.
  // At most `top_k` predictions are shown; as many lines are reserved for them, or one for each
  // label of the model. With `states` the state is shown, too; that of a named watch always is.
  TerminalReporter(Terminal& terminal, RunInfo info, std::size_t top_k, bool states = false);
  void watching(const WatchList& watches) override;
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  struct Block {
    WatchInfoPtr watch;            // null: the only one, without a name
    std::optional<Result> result;  // the last one
  };

  Block* block_of(const Result& result);
  void draw();
  void draw_offline();
  void add_only(const Result& result);
  void add_watches();

  Terminal& terminal_;
  const RunInfo info_;
  const std::size_t top_k_;
  const bool states_;
  std::string title_;
  std::size_t rows_ = 0;  // of predictions, of a watch without a name
  std::vector<Block> blocks_;
  std::optional<StatsSnapshot> stats_;  // nothing in the first interval
  CameraStatus camera_;
  std::uint64_t sequence_ = 0;  // of the last result
  std::uint64_t dropped_ = 0;   // likewise
  std::string origin_;          // likewise
  bool has_result_ = false;
  Clock::time_point last_drawn_;
  std::vector<std::string> lines_;
};

struct LogStyle {
  bool display = false;  // shows the rates already: those of an interval are for debugging
  bool summary = true;   // at the end
  // The descriptor of the terminal that the log goes to: the summary is lines that fit its width. A
  // single line when there is none.
  std::optional<int> terminal;
};

// Logs the statistics of each interval, and a summary at the end. While the camera is away there is
// one line, with since when.
class LogReporter : public Reporter {
 public:
  explicit LogReporter(LogStyle style = {}) : style_(style) {}
  void tick(const StatsSnapshot& stats) override;
  void status(const CameraStatus& status) override;

 private:
  const LogStyle style_;
  CameraStatus camera_;
  bool away_logged_ = false;
  std::string line_;
};

// Logs the table of the operators: at the end, and when asked.
class OperatorReporter : public Reporter {
 public:
  // `table` returns what was measured so far; empty: operators are not sampled. `rows`: as many are
  // logged; 0: 20. `asked` is set by a signal handler, and reset here.
  OperatorReporter(std::function<OperatorTable()> table, std::size_t rows,
                   std::atomic<bool>& asked);

  void tick(const StatsSnapshot& stats) override;
  void poll() override;

 private:
  void log() const;

  std::function<OperatorTable()> table_;
  std::size_t rows_;
  std::atomic<bool>& asked_;
};

}  // namespace lookout

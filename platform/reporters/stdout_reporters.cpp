#include "platform/reporters/stdout_reporters.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/log.h"
#include "pipeline/results/summary.h"
#include "platform/system/journal.h"

namespace lookout {
namespace {

constexpr std::size_t kOperatorRows = 20;

constexpr std::chrono::milliseconds kMinRedrawInterval{100};  // the eye cannot read more
constexpr std::size_t kPlaceColumns = 4;                      // of `  1 ` before a prediction
constexpr std::size_t kMinBarColumns = 20;
constexpr std::size_t kMaxBarColumns = 50;
constexpr std::size_t kMinColumnsForBar = 50;
constexpr float kMinShownScore = 0.005F;  // 0.5 %

std::string bar(float score, std::size_t columns) {
  const auto full = static_cast<std::size_t>(std::lround(score * static_cast<float>(columns)));
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) text += i < full ? "█" : "·";
  return text;
}

// A line for each prediction that is shown, at most `max_lines`. The bar goes first where a
// terminal is narrow, and the label stays.
std::vector<std::string> bars(const std::vector<Prediction>& top, std::size_t max_lines,
                              std::size_t columns) {
  const std::size_t bar_columns = std::clamp((columns - std::min<std::size_t>(columns, 40)) / 2,
                                             kMinBarColumns, kMaxBarColumns);
  std::vector<std::string> lines;
  for (const Prediction& p : top) {
    if (lines.size() == max_lines || (!lines.empty() && p.score < kMinShownScore)) break;
    std::string line = fmt::format("{:>{}} ", lines.size() + 1, kPlaceColumns - 1);
    if (columns >= kMinColumnsForBar) line += bar(p.score, bar_columns) + " ";
    line += fmt::format("{:5.1f} % {}{}", p.score * 100, columns < kMinColumnsForBar ? "" : " ",
                        p.label);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

void TextReporter::report(const Result& result, const Frame& frame) {
  line_.clear();
  append_text(result, frame.origin, line_, {states_, max_predictions_});
  output_.write(line_);
}

template <typename Append>
void JsonReporter::write(Append append) {
  line_ = pending_state_;
  append(line_);
  if (output_.write(line_)) pending_state_.clear();
}

void JsonReporter::report(const Result& result, const Frame& frame) {
  if (result.state_changed) {
    pending_state_.clear();
    format_.append_state(result, frame.origin, pending_state_);
  }
  write([&](std::string& line) { format_.append(result, frame.origin, line); });
}

void JsonReporter::tick(const StatsSnapshot& stats) {
  write([&](std::string& line) {
    if (!operators_) return format_.append(stats, line);
    const OperatorTable table = operators_();
    format_.append(stats, line, &table);
  });
}

void JsonReporter::status(const CameraStatus& status) {
  write([&](std::string& line) { format_.append(status, line); });
}

TerminalReporter::TerminalReporter(Terminal& terminal, RunInfo info, std::size_t top_k, bool states)
    : terminal_(terminal), info_(std::move(info)), top_k_(top_k), states_(states) {}

void TerminalReporter::watching(const WatchList& watches) {
  std::vector<Block> blocks;
  for (const Watching& each : watches) {
    Block block{each.watch, std::nullopt};
    const auto before = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& known) {
      return known.watch && each.watch && known.watch->name == each.watch->name;
    });
    if (before != blocks_.end()) block.result = std::move(before->result);
    blocks.push_back(std::move(block));
  }
  blocks_ = std::move(blocks);
  const ModelInfo& model = *watches.front().model;
  rows_ = blocks_.front().watch ? 0 : std::min(top_k_, model.labels.size());
  title_ = blocks_.front().watch
               ? fmt::format("{} ({})", info_.camera, info_.source)
               : fmt::format("{}: {} ({})", info_.camera, model.name, info_.source);
}

void PictureReporter::report(const Result& result, const Frame& frame) {
  const std::size_t columns = terminal_size(fd_).columns;
  std::string text = printable(frame.origin);
  if (states_) {
    text += "  state ";
    append_text(result.state, text);
  }
  text += '\n';
  for (const std::string& line : bars(result.top, kAllPredictions, columns)) {
    text += printable(line) + "\n";
  }
  output_.write(text);
}

// Null for a watch that is gone.
TerminalReporter::Block* TerminalReporter::block_of(const Result& result) {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.watch ? result.watch && result.watch->name == block.watch->name : !result.watch;
  });
  return found == blocks_.end() ? nullptr : &*found;
}

void TerminalReporter::report(const Result& result, const Frame& frame) {
  if (!camera_.online) return;  // the last result before the loss
  Block* block = block_of(result);
  if (block == nullptr) return;
  block->result = result;
  sequence_ = result.sequence;
  dropped_ = result.dropped;
  origin_ = frame.origin;
  has_result_ = true;
  if (Clock::now() - last_drawn_ >= kMinRedrawInterval) draw();
}

void TerminalReporter::draw() {
  last_drawn_ = Clock::now();
  lines_.assign(3, "");
  lines_[0] = title_;
  if (stats_) {
    lines_[1] =
        fmt::format("{:.1f} fps (camera {:.1f})  ", stats_->classified_fps, stats_->camera_fps);
  }
  lines_[2] = origin_.empty() ? fmt::format("frame {}", sequence_)
                              : fmt::format("frame {}: {}", sequence_, origin_);
  const Block& first = blocks_.front();
  if (first.watch) {
    add_watches();
  } else if (first.result) {
    add_only(*first.result);
  }
  terminal_.draw(lines_);
}

void TerminalReporter::add_only(const Result& result) {
  lines_[1] += fmt::format("latency {:.1f} ms  since capture {:.1f} ms  dropped {}",
                           to_ms(result.durations.total), to_ms(result.frame_age), dropped_);
  if (states_) {
    lines_[2] += "  state ";
    append_text(result.state, lines_[2]);
  }
  lines_.resize(3 + rows_);
  const std::vector<std::string> shown = bars(result.top, rows_, terminal_.size().columns);
  std::copy(shown.begin(), shown.end(), lines_.begin() + 3);
}

void TerminalReporter::add_watches() {
  const TerminalSize size = terminal_.size();
  lines_[1] += fmt::format("dropped {}", dropped_);
  // The row below the block has the cursor.
  const bool has_predictions = lines_.size() + 2 * blocks_.size() < size.rows;
  for (const Block& block : blocks_) {
    std::string& line = lines_.emplace_back(block.watch->shown() + ": ");
    if (!block.result) {
      line += "no result yet";
      if (has_predictions) lines_.emplace_back();
      continue;
    }
    const Result& result = *block.result;
    append_text(result.state, line);
    append_format(line, "  latency {:.1f} ms  since capture {:.1f} ms",
                  to_ms(result.durations.total), to_ms(result.frame_age));
    if (!has_predictions) continue;
    const std::vector<std::string> shown = bars(result.top, 1, size.columns);
    // There is nothing to count.
    lines_.push_back(
        shown.empty() ? "" : std::string(kPlaceColumns, ' ') + shown.front().substr(kPlaceColumns));
  }
}

// At the end the rates of the whole run, and the last result.
void TerminalReporter::tick(const StatsSnapshot& stats) {
  stats_ = stats;
  if (!camera_.online) {
    draw_offline();
  } else if (stats.final && has_result_) {
    draw();
  }
}

void TerminalReporter::status(const CameraStatus& status) {
  camera_ = status;
  if (camera_.online) return;
  // Watches come back one after the other.
  for (Block& block : blocks_) {
    if (block.watch) block.result.reset();
  }
  draw_offline();
}

void TerminalReporter::draw_offline() {
  const auto away = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now() - camera_.since);
  lines_.assign(rows_ + 3, "");
  lines_[0] = title_;
  lines_[1] = fmt::format("offline for {} s, waiting for the camera", away.count());
  terminal_.draw(lines_);
}

void LogReporter::tick(const StatsSnapshot& stats) {
  if (stats.final && !style_.summary) return;
  const char* const offline = camera_.online ? "" : "camera offline; ";
  if (stats.final && stats.captured == 0 && stats.skipped == 0) {
    const double seconds = std::chrono::duration<double>(stats.interval).count();
    log_info("{}no frame came in {:.1f} s", offline, seconds);
    return;
  }
  if (stats.final && style_.terminal) {
    const std::size_t columns = terminal_size(*style_.terminal).columns;
    const std::size_t room = columns - std::min(columns, kLogPrefixColumns);
    for (const std::string& line : summary_lines(stats, room)) log_info("{}", line);
    return;
  }
  line_.clear();
  if (stats.final) {
    line_ += offline;
  } else if (!camera_.online) {
    if (std::exchange(away_logged_, true)) return;
    const std::time_t since = std::chrono::system_clock::to_time_t(camera_.since);
    append_format(line_, "camera away since {:%Y-%m-%d %H:%M:%S}; ", fmt::localtime(since));
  }
  append_text(stats, line_);
  log_at(style_.display && !stats.final ? LogLevel::kDebug : LogLevel::kInfo, "{}", line_);
}

void LogReporter::status(const CameraStatus& status) {
  camera_ = status;
  away_logged_ = false;
}

OperatorReporter::OperatorReporter(std::function<OperatorTable()> table, std::size_t rows,
                                   std::atomic<bool>& asked)
    : table_(std::move(table)), rows_(rows == 0 ? kOperatorRows : rows), asked_(asked) {}

void OperatorReporter::tick(const StatsSnapshot& stats) {
  if (stats.final && table_) log();
}

void OperatorReporter::poll() {
  if (!asked_.load(std::memory_order_relaxed) || !asked_.exchange(false)) return;
  if (table_) {
    log();
  } else {
    log_info("operators are not sampled: start with --set profile.op-sampling=0.01");
  }
}

void OperatorReporter::log() const {
  for (const std::string& line : to_text(table_(), OperatorTimes::kPerFrame, rows_)) {
    log_info("{}", line);
  }
}

}  // namespace lookout

#include "platform/reporters/stdout_reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "pipeline/log.h"
#include "pipeline/results/summary.h"
#include "platform/system/journal.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kMinRedrawInterval{30};  // the eye cannot follow more
constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kMinColumnsForBar = 50;

std::string bar(float score) {
  const auto full = static_cast<std::size_t>(std::lround(score * kBarColumns));
  std::string text;
  for (std::size_t i = 0; i < kBarColumns; ++i) text += i < full ? "█" : "·";
  return text;
}

}  // namespace

void TextReporter::report(const Result& result, const Frame& frame) {
  line_.clear();
  append_text(result, frame.origin, line_, {states_, max_predictions_});
  output_.write(line_);
}

void JsonReporter::begin() { line_ = pending_state_; }

void JsonReporter::end() {
  if (output_.write(line_)) pending_state_.clear();
}

void JsonReporter::report(const Result& result, const Frame& frame) {
  if (result.state_changed) {
    pending_state_.clear();
    format_.append_state(result, frame.origin, pending_state_);
  }
  begin();
  format_.append(result, frame.origin, line_);
  end();
}

void JsonReporter::tick(const StatsSnapshot& stats) {
  begin();
  if (operators_) {
    const OperatorTable table = operators_();
    format_.append(stats, line_, &table);
  } else {
    format_.append(stats, line_);
  }
  end();
}

void JsonReporter::status(const CameraStatus& status) {
  begin();
  format_.append(status, line_);
  end();
}

TerminalReporter::TerminalReporter(Terminal& terminal, std::string title, std::size_t top_k,
                                   bool states)
    : terminal_(terminal), title_(std::move(title)), top_k_(top_k), states_(states) {}

void TerminalReporter::report(const Result& result, const Frame& frame) {
  if (!camera_.online) return;  // the last result before the loss
  const auto now = Clock::now();
  if (now - last_drawn_ < kMinRedrawInterval) return;
  last_drawn_ = now;
  lines_.assign(top_k_ + 3, "");
  lines_[0] = title_;
  lines_[1] =
      fmt::format("{:.1f} fps (camera {:.1f})  latency {:.1f} ms  age {:.1f} ms  dropped {}",
                  stats_.classified_fps, stats_.camera_fps, to_ms(result.durations.total),
                  to_ms(result.frame_age), result.dropped);
  lines_[2] = frame.origin.empty() ? fmt::format("frame {}", result.sequence)
                                   : fmt::format("frame {}: {}", result.sequence, frame.origin);
  if (states_) {
    lines_[2] += "  state ";
    append_text(result.state, lines_[2]);
  }
  const bool narrow = terminal_.size().columns < kMinColumnsForBar;
  for (std::size_t i = 0; i < result.top.size() && i < top_k_; ++i) {
    const Prediction& p = result.top[i];
    // The bar goes first where a terminal is narrow, and the label stays.
    lines_[i + 3] =
        narrow ? fmt::format("{:>3} {:5.1f} % {}", i + 1, p.score * 100, p.label)
               : fmt::format("{:>3} {} {:5.1f} %  {}", i + 1, bar(p.score), p.score * 100, p.label);
  }
  terminal_.draw(lines_);
}

void TerminalReporter::tick(const StatsSnapshot& stats) {
  stats_ = stats;
  if (!camera_.online) draw_offline();
}

void TerminalReporter::status(const CameraStatus& status) {
  camera_ = status;
  if (!camera_.online) draw_offline();
}

void TerminalReporter::draw_offline() {
  const auto away = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now() - camera_.since);
  lines_.assign(top_k_ + 3, "");
  lines_[0] = title_;
  lines_[1] = fmt::format("offline for {} s, waiting for the camera", away.count());
  terminal_.draw(lines_);
}

void LogReporter::tick(const StatsSnapshot& stats) {
  if (stats.final && style_.terminal) {
    const std::size_t columns = terminal_size(*style_.terminal).columns;
    const std::size_t room = columns - std::min(columns, kLogPrefixColumns);
    for (const std::string& line : summary_lines(stats, room)) log_info("{}", line);
    return;
  }
  line_.clear();
  if (!camera_.online) line_ += "camera offline; ";
  append_text(stats, line_);
  log_at(style_.display && !stats.final ? LogLevel::kDebug : LogLevel::kInfo, "{}", line_);
}

void LogReporter::status(const CameraStatus& status) { camera_ = status; }

}  // namespace lookout

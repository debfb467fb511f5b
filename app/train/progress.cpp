#include "app/train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "pipeline/core/log.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::seconds kInLog{2};

void write_to_terminal(const std::string& text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
  return fmt::format("{:.0f} min", std::ceil(seconds / 60));
}

}  // namespace

std::string progress_text(const std::string& what, std::size_t done, std::size_t all,
                          std::chrono::duration<double> passed) {
  std::string text = fmt::format("{} of {} {}", done, all, what);
  if (done == 0 || passed < std::chrono::seconds(1)) return text;
  const double left = passed.count() * static_cast<double>(all - done) / static_cast<double>(done);
  return text + ", " + time_text(left) + " left";
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1 && is_logged(LogLevel::kInfo)) {}

ProgressLine::~ProgressLine() {
  if (shown_) write_to_terminal("\r\x1b[K");
}

void ProgressLine::show(std::size_t done, std::size_t all) {
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kInLog))) return;
  last_ = now;
  const std::string text = progress_text(what_, done, all, now - start_);
  if (terminal_) {
    // The cursor goes back, so that a log line is written over it.
    write_to_terminal("\r\x1b[K" + text + "\r");
    shown_ = true;
  } else {
    log_info("{}", text);
  }
}

}  // namespace lookout

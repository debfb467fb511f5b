#include "platform/system/log_sink.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "pipeline/core/error.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {
namespace {

using spdlog::details::log_msg;

bool shows_colors(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
}

// Those of spdlog's own sinks.
std::string_view color_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
      return "\x1b[37m";
    case spdlog::level::debug:
      return "\x1b[36m";
    case spdlog::level::info:
      return "\x1b[32m";
    case spdlog::level::warn:
      return "\x1b[33m\x1b[1m";
    case spdlog::level::err:
      return "\x1b[31m\x1b[1m";
    default:
      return "\x1b[1m\x1b[41m";
  }
}

// The sink's mutex is held by spdlog while the members below run.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogSink(int fd)
      : writer_(fd, "stderr", NonBlockingWriter::WhenFull::kDrop, reader_gone_),
        colored_(shows_colors(fd)) {}

 protected:
  void sink_it_(const log_msg& message) override {
    if (!report_dropped() || !write(message)) ++dropped_;
  }

  void flush_() override {
    if (report_dropped()) finish_line();
  }

 private:
  bool write(const log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    std::string with_color;
    if (colored_ && message.color_range_end > message.color_range_start) {
      with_color = text;
      with_color.insert(message.color_range_end, "\x1b[m");
      with_color.insert(message.color_range_start, color_of(message.level));
      text = with_color;
    }
    try {
      return writer_.write(text);
    } catch (const Error&) {
      return false;  // a full disk, for example: the loss cannot be reported either
    }
  }

  // Writes the rest of a line that was written in part.
  void finish_line() {
    try {
      writer_.flush();
    } catch (const Error&) {
      // as above
    }
  }

  // Returns false when there is still no room.
  bool report_dropped() {
    if (dropped_ == 0) return true;
    const std::string text =
        fmt::format("{} log line{} dropped: stderr's reader was too slow, or the disk was full",
                    dropped_, dropped_ == 1 ? " was" : "s were");
    if (!write(log_msg("lookout", spdlog::level::warn, text))) return false;
    dropped_ = 0;
    return true;
  }

  std::atomic<bool> reader_gone_{false};  // which ends nothing but the log
  NonBlockingWriter writer_;
  bool colored_;
  std::uint64_t dropped_ = 0;  // since the last warning about them
};

}  // namespace

std::shared_ptr<spdlog::sinks::sink> make_log_sink(int fd) { return std::make_shared<LogSink>(fd); }

}  // namespace lookout

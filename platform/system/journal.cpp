#include "platform/system/journal.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {
namespace {

using spdlog::memory_buf_t;
using spdlog::details::log_msg;

struct LogLevelStyle {
  char priority;           // see sd-daemon(3)
  std::string_view color;  // that of spdlog's own sinks
};

// By spdlog's level: trace, debug, info, warning, error, critical, off.
constexpr std::array<LogLevelStyle, spdlog::level::n_levels> kLogLevels{{{'7', "\x1b[37m"},
                                                                         {'7', "\x1b[36m"},
                                                                         {'6', "\x1b[32m"},
                                                                         {'4', "\x1b[33m\x1b[1m"},
                                                                         {'3', "\x1b[31m\x1b[1m"},
                                                                         {'2', "\x1b[1m\x1b[41m"},
                                                                         {'7', "\x1b[1m\x1b[41m"}}};

class LogFlag : public spdlog::custom_flag_formatter {
 public:
  using Append = void (*)(const log_msg& message, memory_buf_t& line);

  explicit LogFlag(Append append) : append_(append) {}
  void format(const log_msg& message, const std::tm& /*time*/, memory_buf_t& line) override {
    append_(message, line);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LogFlag>(append_);
  }

 private:
  const Append append_;
};

void append_priority(const log_msg& message, memory_buf_t& line) {
  line.push_back(kLogLevels.at(message.level).priority);
}

void append_payload(const log_msg& message, memory_buf_t& line) {
  const std::string text = printable({message.payload.data(), message.payload.size()});
  line.append(text.data(), text.data() + text.size());
}

// In the pattern, %N is the priority and %v the printable text.
std::unique_ptr<spdlog::formatter> make_formatter(const char* pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LogFlag>('N', append_priority)
      .add_flag<LogFlag>('v', append_payload)
      .set_pattern(pattern);
  return formatter;
}

// The sink's mutex is held by spdlog while the members below run.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogSink(int fd)
      : writer_(fd, "stderr", NonBlockingWriter::WhenFull::kDrop, reader_gone_),
        colored_(can_redraw(fd)) {}

 protected:
  void sink_it_(const log_msg& message) override {
    if (!report_dropped() || !write(message)) ++dropped_;
  }

  // Also writes the rest of a line that was written in part.
  void flush_() override {
    if (!report_dropped()) return;
    try {
      writer_.flush();
    } catch (const Error&) {
      // as in write()
    }
  }

 private:
  bool write(const log_msg& message) {
    memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    std::string with_color;
    if (colored_ && message.color_range_end > message.color_range_start) {
      with_color = text;
      with_color.insert(message.color_range_end, "\x1b[m");
      with_color.insert(message.color_range_start, kLogLevels.at(message.level).color);
      text = with_color;
    }
    try {
      return writer_.write(text);
    } catch (const Error&) {
      return false;  // a full disk, for example: the loss cannot be reported either
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

bool is_journal(int fd, const char* journal_stream) {
  struct stat status {};
  if (journal_stream == nullptr || fstat(fd, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == journal_stream;
}

bool is_journal(int fd) { return is_journal(fd, std::getenv("JOURNAL_STREAM")); }

std::unique_ptr<spdlog::formatter> make_journal_formatter() { return make_formatter("<%N>%v"); }

std::unique_ptr<spdlog::formatter> make_log_formatter() { return make_formatter("%T %^%l%$ %v"); }

std::shared_ptr<spdlog::sinks::sink> make_log_sink(int fd) { return std::make_shared<LogSink>(fd); }

}  // namespace lookout

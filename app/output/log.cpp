#include "app/output/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <mutex>

#include "pipeline/results/format.h"
#include "platform/system/journal.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kLastSentenceTime{1};

}  // namespace

// Prints log lines above the display of a terminal, until it is closed.
class LogAboveDisplay::Sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit Sink(Terminal& terminal) : terminal_(&terminal) {}

  void close() {
    const std::lock_guard lock(mutex_);
    terminal_ = nullptr;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (terminal_ == nullptr) return;
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    terminal_->print_above({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  Terminal* terminal_;  // guarded by the base's mutex_
};

void set_up_log() {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("lookout", make_log_sink(STDERR_FILENO)));
  spdlog::set_formatter(is_journal(STDERR_FILENO) ? make_journal_formatter()
                                                  : make_log_formatter());
}

void set_log_level(const std::string& level) { spdlog::set_level(spdlog::level::from_str(level)); }

void flush_log() { spdlog::default_logger()->flush(); }

void print_last_sentence(const std::string& sentence) {
  flush_log();
  const char* priority = is_journal(STDERR_FILENO) ? "<3>" : "";
  write_at_end(STDERR_FILENO, priority + ("lookout: " + printable(sentence)) + "\n",
               kLastSentenceTime);
}

LogAboveDisplay::LogAboveDisplay(Terminal& terminal)
    : before_(spdlog::default_logger()), sink_(std::make_shared<Sink>(terminal)) {
  // Of the process, once: another thread may be about to log when this ends.
  static std::shared_ptr<spdlog::logger> logger;
  logger = std::make_shared<spdlog::logger>("lookout", sink_);
  logger->set_level(before_->level());
  logger->set_formatter(make_log_formatter());
  spdlog::set_default_logger(logger);
}

LogAboveDisplay::~LogAboveDisplay() {
  spdlog::set_default_logger(before_);
  sink_->close();
}

}  // namespace lookout

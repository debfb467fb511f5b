#include "platform/system/journal.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "pipeline/results/format.h"

namespace lookout {
namespace {

// See sd-daemon(3).
char priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return '2';
    case spdlog::level::err:
      return '3';
    case spdlog::level::warn:
      return '4';
    case spdlog::level::info:
      return '6';
    default:
      return '7';
  }
}

class PriorityFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    line.push_back(priority(message.level));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityFlag>();
  }
};

class PrintableFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableFlag>();
  }
};

// In the pattern, %N is the priority and %v the printable text.
std::unique_ptr<spdlog::formatter> make_formatter(const char* pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PriorityFlag>('N').add_flag<PrintableFlag>('v').set_pattern(pattern);
  return formatter;
}

}  // namespace

bool is_journal(int fd, const char* journal_stream) {
  struct stat status {};
  if (journal_stream == nullptr || fstat(fd, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == journal_stream;
}

bool is_journal(int fd) { return is_journal(fd, std::getenv("JOURNAL_STREAM")); }

std::unique_ptr<spdlog::formatter> make_journal_formatter() { return make_formatter("<%N>%v"); }

std::unique_ptr<spdlog::formatter> make_log_formatter() { return make_formatter("%T %^%l%$ %v"); }

}  // namespace lookout

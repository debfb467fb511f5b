#include "pipeline/core/log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <iterator>
#include <string_view>

namespace lookout {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

// As it is, without braces that mean something.
void log_text(LogLevel level, std::string_view text) {
  spdlog::default_logger_raw()->log(spdlog_level(level),
                                    spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace

bool is_logged(LogLevel level) { return spdlog::should_log(spdlog_level(level)); }

void log_formatted(LogLevel level, fmt::string_view format, fmt::format_args args) {
  if (!is_logged(level)) return;
  try {
    fmt::memory_buffer text;
    fmt::vformat_to(std::back_inserter(text), format, args);
    log_text(level, {text.data(), text.size()});
  } catch (const std::exception& error) {
    log_text(LogLevel::kError, error.what());
  }
}

}  // namespace lookout

// Log lines, by spdlog's default logger. A call with arguments compiles in a fraction of the time
// that spdlog's own takes: the arguments lose their types here, and log.cpp alone includes spdlog.
#pragma once

#include <fmt/core.h>

namespace lookout {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Whether lines of this level are shown. Any thread.
bool is_logged(LogLevel level);

// Formats and logs. A line that is not shown is not formatted. Any thread; it does not throw.
void log_formatted(LogLevel level, fmt::string_view format, fmt::format_args args);

// Formats as fmt::format() does: log_at(LogLevel::kInfo, "{} of {}", 1, 2).
template <typename... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, const Args&... args) {
  log_formatted(level, format, fmt::make_format_args(args...));
}

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, const Args&... args) {
  log_formatted(LogLevel::kDebug, format, fmt::make_format_args(args...));
}

template <typename... Args>
void log_info(fmt::format_string<Args...> format, const Args&... args) {
  log_formatted(LogLevel::kInfo, format, fmt::make_format_args(args...));
}

template <typename... Args>
void log_warn(fmt::format_string<Args...> format, const Args&... args) {
  log_formatted(LogLevel::kWarn, format, fmt::make_format_args(args...));
}

template <typename... Args>
void log_error(fmt::format_string<Args...> format, const Args&... args) {
  log_formatted(LogLevel::kError, format, fmt::make_format_args(args...));
}

}  // namespace lookout

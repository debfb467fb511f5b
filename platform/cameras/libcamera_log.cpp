#include "platform/cameras/libcamera_log.h"

#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

// The time and the thread differ from line to line, and our log has a time.
std::string_view without_stamps(std::string_view line) {
  line = trimmed(line);
  for (int i = 0; i < 2 && starts_with(line, "["); ++i) {
    const auto end = line.find(']');
    if (end == std::string_view::npos) break;
    line = trimmed(line.substr(end + 1));
  }
  return line;
}

bool is_trouble(std::string_view line) {
  return starts_with(line, "WARN") || starts_with(line, "ERROR") || starts_with(line, "FATAL");
}

}  // namespace

void LibcameraLog::write(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    write_line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void LibcameraLog::write_line(std::string_view line) {
  line = without_stamps(line);
  if (line.empty()) return;
  const std::string text = printable(line);
  if (!is_trouble(line)) {
    log_info("libcamera: {}", text);
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (logged_.size() > kMaxLines || !logged_.insert(text).second) return;
    if (logged_.size() > kMaxLines) {
      log_warn("libcamera: further lines are not logged until a camera works");
      return;
    }
  }
  log_warn("libcamera: {}; this is logged once", text);
}

void LibcameraLog::forget() {
  const MutexLock lock(mutex_);
  logged_.clear();
}

LibcameraLog& libcamera_log() {
  static auto* const log = new LibcameraLog;  // libcamera's threads may outlive a static object
  return *log;
}

}  // namespace lookout

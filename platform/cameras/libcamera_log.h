// What libcamera logs, as lines of our log.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "pipeline/core/mutex.h"

namespace lookout {

// A missing camera is looked for again and again, and libcamera then repeats what it says. So each
// of its warnings and errors is logged once, until a camera works; other lines come only when
// somebody asked for them by LIBCAMERA_LOG_LEVELS, and are all logged. Any thread.
class LibcameraLog {
 public:
  static constexpr std::size_t kMaxLines = 20;  // different ones; of more, one line says so

  // One or more lines as libcamera writes them: "[1:02:03.456] [789]  ERROR Camera camera.cpp:12
  // Text".
  void write(std::string_view text) EXCLUDES(mutex_);

  // A camera works: the next failure is logged.
  void forget() EXCLUDES(mutex_);

 private:
  void write_line(std::string_view line) EXCLUDES(mutex_);

  Mutex mutex_;
  std::set<std::string, std::less<>> logged_ GUARDED_BY(mutex_);
};

// Of this process, as libcamera's own log is. It lives to the end.
LibcameraLog& libcamera_log();

}  // namespace lookout

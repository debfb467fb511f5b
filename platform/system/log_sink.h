// Writes log lines to a file descriptor without holding up the threads that log.
#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>

namespace lookout {

// A thread-safe sink that never waits for a slow reader. It drops lines for which there is no room,
// and writes their number as a warning before the next line. A file takes every line. Levels are
// colored on terminals with colors. `fd` stays open.
std::shared_ptr<spdlog::sinks::sink> make_log_sink(int fd);

}  // namespace lookout

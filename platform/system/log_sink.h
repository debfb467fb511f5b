// Where log lines go: a file descriptor that must not hold up the threads that log.
#pragma once

#include <spdlog/sinks/sink.h>

#include <memory>

namespace lookout {

// A thread-safe sink that never waits for a slow reader: a line that there is no room for is
// dropped, and the next line that is written follows a warning with the number of dropped ones. A
// file takes every line. Levels have colors on a terminal that can show them. `fd` stays open.
std::shared_ptr<spdlog::sinks::sink> make_log_sink(int fd);

}  // namespace lookout

// systemd's journal, and the log: the formats of its lines, and where they go.
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>
#include <memory>

namespace lookout {

// Whether `fd` leads to the journal. `journal_stream` is the value of JOURNAL_STREAM,
// "DEVICE:INODE" of the journal's socket, or null when it is not set.
bool is_journal(int fd, const char* journal_stream);
// The same, with JOURNAL_STREAM of the environment.
bool is_journal(int fd);

// Log lines for the journal: `<4>text`, with the level as a syslog priority. The journal adds the
// time and the program's name. The text is printable().
std::unique_ptr<spdlog::formatter> make_journal_formatter();
// Log lines for everything else: `10:15:00 warning text`. The text is printable().
std::unique_ptr<spdlog::formatter> make_log_formatter();
// The columns of what comes before the text of an info line there.
inline constexpr std::size_t kLogPrefixColumns = 14;

// A thread-safe sink that never waits for a slow reader. It drops lines for which there is no room,
// and writes their number as a warning before the next line. A file takes every line. Levels are
// colored on terminals with colors. `fd` stays open.
std::shared_ptr<spdlog::sinks::sink> make_log_sink(int fd);

}  // namespace lookout

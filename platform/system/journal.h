// systemd's journal as the place where output goes, and what log lines look like there and
// elsewhere.
#pragma once

#include <spdlog/formatter.h>

#include <memory>

namespace lookout {

// Whether what is written to `fd` goes to the journal. `journal_stream` is the value of
// JOURNAL_STREAM, "DEVICE:INODE" of the journal's end, or null where that is not set.
bool is_journal(int fd, const char* journal_stream);
// The same with the environment's.
bool is_journal(int fd);

// Log lines as the journal wants them: `<4>text`, with the level as a syslog priority; time and
// program are the journal's own. The text is printable().
std::unique_ptr<spdlog::formatter> make_journal_formatter();
// Elsewhere: `10:15:00 warning text`.
std::unique_ptr<spdlog::formatter> make_log_formatter();

}  // namespace lookout

// A block of lines at the bottom of a terminal that is redrawn in place, while log lines scroll by
// above it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/mutex.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The size of the terminal behind a descriptor, or the default size where it reports none.
TerminalSize terminal_size(int fd);

// As much of the UTF-8 line as fits into `columns`: a wide character takes two, a combining one
// none.
std::string_view cut(std::string_view line, std::size_t columns);

// The columns that a UTF-8 line takes.
std::size_t columns_of(std::string_view line);

// The rows that drawn lines take in a terminal of that size: one that became narrower has wrapped
// them.
std::size_t rows_of(const std::vector<std::string>& drawn, const TerminalSize& size);

// The lines as they can be drawn: printable, and cut to the size.
std::vector<std::string> fitted(const std::vector<std::string>& lines, const TerminalSize& size);

// Appends to `out` the control sequences that print `above` and replace the block `drawn` by
// `lines`, both of fitted(), as one update where the terminal knows those (DEC mode 2026). Lines
// that are the same are not written again.
void append_redraw(const std::vector<std::string>& drawn, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size,
                   std::string& out);

// Thread-safe.
class Terminal {
 public:
  // `fd` is the terminal that `output` writes to. Both outlive this.
  Terminal(int fd, NonBlockingWriter& output);

  TerminalSize size() const { return terminal_size(fd_); }
  // Replaces the block.
  void draw(const std::vector<std::string>& lines);
  // Prints whole lines above the block.
  void print_above(std::string_view text);

 private:
  void redraw(std::string_view above) REQUIRES(mutex_);

  const int fd_;
  Mutex mutex_;
  NonBlockingWriter& output_ GUARDED_BY(mutex_);
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
  std::vector<std::string> drawn_ GUARDED_BY(mutex_);  // what the terminal shows
  std::string text_ GUARDED_BY(mutex_);
};

}  // namespace lookout

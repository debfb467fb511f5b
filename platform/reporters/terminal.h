// A block of lines at the bottom of a terminal that is redrawn in place, while log lines scroll by
// above it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "platform/system/non_blocking_writer.h"

namespace lookout {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Whether the descriptor is a terminal that takes control sequences: TERM names it, and not as
// dumb.
bool can_redraw(int fd);

// Of the terminal behind a descriptor; the default where it does not tell.
TerminalSize terminal_size(int fd);

// The control sequences that take a block of `old_lines` away, print `above` and draw `lines`, cut
// to the size: a line that wraps could not be taken away again. Lines are UTF-8; a character counts
// as one column. Appended to `out`.
void append_redraw(std::size_t old_lines, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size,
                   std::string& out);

// Thread-safe.
class Terminal {
 public:
  // `fd` is the terminal that `output` writes to.
  Terminal(int fd, NonBlockingWriter& output);

  // Replaces the block.
  void draw(const std::vector<std::string>& lines);
  // Prints whole lines above the block.
  void print_above(std::string_view text);

 private:
  void redraw(std::string_view above);

  std::mutex mutex_;
  int fd_;
  NonBlockingWriter& output_;
  std::vector<std::string> lines_;
  std::size_t drawn_ = 0;
  std::string text_;
};

}  // namespace lookout

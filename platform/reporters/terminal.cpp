#include "platform/reporters/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "pipeline/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
std::string_view cut(std::string_view line, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(line.data()) + i;
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(line.size() - i), &character);
    // A byte that is not UTF-8 is shown as one replacement character.
    used += size > 0 ? static_cast<std::size_t>(utf8proc_charwidth(character)) : 1;
    if (used > columns) return line.substr(0, i);
    i += size > 0 ? static_cast<std::size_t>(size) : 1;
  }
  return line;
}

bool can_redraw(int fd) {
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  return isatty(fd) == 1 && !name.empty() && name != "dumb";
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void append_redraw(std::size_t old_lines, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size,
                   std::string& out) {
  out += '\r';
  if (old_lines > 0) append_format(out, "\x1b[{}A", old_lines);
  out += "\x1b[J";
  out += above;
  const std::size_t count = std::min(lines.size(), size.rows - 1);
  for (std::size_t i = 0; i < count; ++i) {
    out += cut(printable(lines[i]), size.columns);
    out += '\n';
  }
}

Terminal::Terminal(int fd, NonBlockingWriter& output) : fd_(fd), output_(output) {}

void Terminal::draw(const std::vector<std::string>& lines) {
  const MutexLock lock(mutex_);
  lines_ = lines;
  redraw({});
}

void Terminal::print_above(std::string_view text) {
  const MutexLock lock(mutex_);
  redraw(text);
}

void Terminal::redraw(std::string_view above) {
  const TerminalSize size = terminal_size(fd_);
  text_.clear();
  append_redraw(drawn_, above, lines_, size, text_);
  if (output_.write(text_)) drawn_ = std::min(lines_.size(), size.rows - 1);
}

}  // namespace lookout

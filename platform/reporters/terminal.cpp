#include "platform/reporters/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// The number of bytes of the first character, and the columns that it takes. A byte that is not
// UTF-8 is shown as one replacement character.
std::pair<std::size_t, std::size_t> first_character(std::string_view text) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &character);
  if (size <= 0) return {1, 1};
  return {static_cast<std::size_t>(size), static_cast<std::size_t>(utf8proc_charwidth(character))};
}

}  // namespace

std::string_view cut(std::string_view line, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto [size, width] = first_character(line.substr(i));
    used += width;
    if (used > columns) return line.substr(0, i);
    i += size;
  }
  return line;
}

std::size_t columns_of(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto [size, width] = first_character(line.substr(i));
    columns += width;
    i += size;
  }
  return columns;
}

std::size_t rows_of(const std::vector<std::string>& drawn, const TerminalSize& size) {
  std::size_t rows = 0;
  for (const std::string& line : drawn) {
    rows += std::max<std::size_t>(1, (columns_of(line) + size.columns - 1) / size.columns);
  }
  return rows;
}

std::vector<std::string> fitted(const std::vector<std::string>& lines, const TerminalSize& size) {
  std::vector<std::string> result;
  for (const std::string& line : lines) {
    if (result.size() + 1 >= size.rows) break;
    result.emplace_back(cut(printable(line), size.columns));
  }
  return result;
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void append_redraw(const std::vector<std::string>& drawn, std::string_view above,
                   const std::vector<std::string>& lines, const TerminalSize& size,
                   std::string& out) {
  out += "\x1b[?2026h\r";
  const std::size_t rows = std::min(rows_of(drawn, size), size.rows - 1);
  if (rows > 0) append_format(out, "\x1b[{}A", rows);
  if (!above.empty()) {
    out += "\x1b[J";
    out += above;
  }
  const bool in_place = above.empty() && rows == drawn.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_same = in_place && i < drawn.size() && drawn[i] == lines[i];
    if (!is_same) out += lines[i];
    // In a full line this would erase the last character.
    if (!is_same && columns_of(lines[i]) < size.columns) out += "\x1b[K";
    out += '\n';
  }
  if (rows > lines.size()) out += "\x1b[J";
  out += "\x1b[?2026l";
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
  std::vector<std::string> lines = fitted(lines_, size);
  const bool is_shown = above.empty() && lines == drawn_ && rows_of(drawn_, size) == drawn_.size();
  if (is_shown) return;
  append_redraw(drawn_, above, lines, size, text_);
  if (output_.write(text_)) drawn_ = std::move(lines);
}

}  // namespace lookout

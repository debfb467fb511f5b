// Makes text from outside (file names, labels, prints of a model) safe to show.
#pragma once

#include <string>
#include <string_view>

namespace lookout {

// Escapes control characters as \n, \x1b or (C1) \u009b, bytes that are not UTF-8 as \xff, and what
// changes the direction or the lines of a text (bidirectional marks, U+2028, U+2029) as \u202e. The
// text then neither begins a line, nor controls a terminal, nor looks like another one.
void append_printable(std::string_view text, std::string& out);
std::string printable(std::string_view text);

// The same, and a backslash is doubled: different texts stay different.
void append_escaped(std::string_view text, std::string& out);

// The first line of another library's message, of which 300 bytes are kept.
std::string first_line(std::string_view text);

// Whether every byte of the text belongs to a UTF-8 character.
bool is_utf8(std::string_view text);

}  // namespace lookout

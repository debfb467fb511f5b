#include "pipeline/core/printable.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

struct Range {
  utf8proc_int32_t first;
  utf8proc_int32_t last;
};

// Bidirectional marks, embeddings, overrides and isolates; separators of lines and paragraphs.
constexpr Range kMisleading[] = {
    {0x061C, 0x061C}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};

bool is_misleading(utf8proc_int32_t character) {
  return std::any_of(std::begin(kMisleading), std::end(kMisleading), [character](Range range) {
    return range.first <= character && character <= range.last;
  });
}

// Returns the length of the character that `text` begins with; -1: it is none.
utf8proc_ssize_t first_character(std::string_view text, utf8proc_int32_t& character) {
  return utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                          static_cast<utf8proc_ssize_t>(text.size()), &character);
}

// Appends the first character of a text that begins with no ASCII one. Returns its length.
std::size_t append_wide(std::string_view text, std::string& out) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t size = first_character(text, character);
  if (size < 1) {
    append_format(out, "\\x{:02x}", static_cast<unsigned char>(text[0]));
    return 1;
  }
  if (character < 0xA0 || is_misleading(character)) {
    append_format(out, "\\u{:04x}", character);
  } else {
    out += text.substr(0, static_cast<std::size_t>(size));
  }
  return static_cast<std::size_t>(size);
}

void append(std::string_view text, bool double_backslashes, std::string& out) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      i += append_wide(text.substr(i), out);
      continue;
    }
    if (byte == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7F) {
      append_format(out, "\\x{:02x}", byte);
    } else {
      if (byte == '\\' && double_backslashes) out += '\\';
      out += text[i];
    }
    ++i;
  }
}

}  // namespace

void append_printable(std::string_view text, std::string& out) { append(text, false, out); }

std::string printable(std::string_view text) {
  std::string out;
  append_printable(text, out);
  return out;
}

void append_escaped(std::string_view text, std::string& out) { append(text, true, out); }

std::string first_line(std::string_view text) {
  constexpr std::size_t kMax = 300;  // bytes
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.size() > kMax ? std::string(line.substr(0, kMax)) + " ..." : std::string(line);
}

bool is_utf8(std::string_view text) {
  utf8proc_int32_t character = 0;
  for (std::size_t i = 0; i < text.size();) {
    const utf8proc_ssize_t size = first_character(text.substr(i), character);
    if (size < 1) return false;
    i += static_cast<std::size_t>(size);
  }
  return true;
}

}  // namespace lookout

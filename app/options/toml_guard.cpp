#include "app/options/toml_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "app/options/toml_node.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxBytes = 256 << 10;
constexpr int kMaxKeyParts = 64;  // a table each, one in the other

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

class Guard {
 public:
  explicit Guard(const std::string& text) : text_(text) {}

  std::string run() {
    if (text_.size() > kMaxBytes) {
      refuse(fmt::format("the file is larger than {} KB", kMaxBytes >> 10U));
    }
    while (!at_end()) outside();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw TomlError(line_, column_, what); }

  bool at_end() const { return at_ >= text_.size(); }
  bool sees(std::string_view word) const { return text_.compare(at_, word.size(), word) == 0; }

  // The byte `i` after `at_`; 0 behind the end.
  unsigned byte(std::size_t i) const {
    return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0U;
  }

  // Whether the character at `at_`, of `count` bytes, is written with more bytes than it needs, is
  // a surrogate, or is none of Unicode's.
  bool is_out_of_range(std::size_t count) const {
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (count == 2) return first < 0xC2;
    if (count == 3) return (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0);
    return (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90) || first > 0xF4;
  }

  // Bytes of the character at `at_`. Throws when it is not UTF-8.
  std::size_t length() const {
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t count = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    bool valid = !is_out_of_range(count);
    for (std::size_t i = 1; i < count; ++i) valid = valid && (byte(i) & 0xC0U) == 0x80;
    if (!valid) refuse("this is not UTF-8");
    return count;
  }

  // Copies one character.
  void copy() {
    const std::size_t count = length();
    out_.append(text_, at_, count);
    skip(count);
  }

  void copy(std::size_t characters) {
    for (std::size_t i = 0; i < characters && !at_end(); ++i) copy();
  }

  void skip(std::size_t bytes) {
    const bool new_line = text_[at_] == '\n';
    at_ += bytes;
    line_ += new_line ? 1 : 0;
    column_ = new_line ? 1 : column_ + 1;
  }

  // Copies from where no string or comment is, to the same.
  void outside() {
    const char c = text_[at_];
    if (c == '#') {
      while (!at_end() && text_[at_] != '\n') copy();
    } else if (c == '"' || c == '\'') {
      if (!string_may_begin()) refuse("a string cannot begin here");
      string(c);
      last_ = c;
    } else if (!is_ascii(c)) {
      length();
      refuse("a character outside ASCII has to stand in quotes or in a comment");
    } else {
      follow(c);
      copy();
    }
  }

  // Elsewhere the library may read the quote and the string as a part of a number or date.
  bool string_may_begin() const {
    if (last_ == '.') return !in_value_;
    return std::string_view("\n=,[{").find(last_) != std::string_view::npos;
  }

  void follow(char c) {
    count_key_parts(c);
    follow_brackets(c);
    if (c == '=') in_value_ = true;
    if (c == '\n' && brackets_.empty()) in_value_ = false;
    if (c == ',' && !brackets_.empty()) in_value_ = brackets_.back() == '[';
    if (!is_blank(c)) last_ = c;
  }

  void follow_brackets(char c) {
    if ((c == '[' || c == '{') && in_value_) {  // else of a table's header
      brackets_ += c;
      in_value_ = c == '[';
    }
    if (!brackets_.empty() && c == (brackets_.back() == '[' ? ']' : '}')) {
      brackets_.pop_back();
      in_value_ = true;
    }
  }

  void count_key_parts(char c) {
    if (std::strchr("=,[]{}\n", c) != nullptr) key_parts_ = 1;
    if (c == '.' && ++key_parts_ > kMaxKeyParts) {
      refuse(fmt::format("a key of more than {} parts", kMaxKeyParts));
    }
  }

  void string(char quote) {
    const std::string three(3, quote);
    const bool multi_line = sees(three);
    copy(multi_line ? 3 : 1);
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        escape(multi_line);
      } else if (multi_line && sees(three)) {
        close(quote);
        return;
      } else if (!multi_line && (c == quote || c == '\n')) {  // toml++ refuses the line's end
        copy();
        return;
      } else {
        copy();
      }
    }
  }

  // Three quotes end the string, and up to two before them belong to it.
  void close(char quote) {
    const auto end = std::min(text_.find_first_not_of(quote, at_), text_.size());
    copy(std::min<std::size_t>(end - at_, 5));
  }

  void escape(bool multi_line) {
    copy();
    if (at_end()) return;
    if (!is_ascii(text_[at_])) refuse("there is no such escape");
    if (!multi_line || !ends_line()) {
      copy();
      return;
    }
    while (!at_end() && std::strchr(" \t\r\n", text_[at_]) != nullptr) copy();
    if (!at_end() && !is_ascii(text_[at_])) write_escaped();
  }

  bool ends_line() const {
    std::size_t i = at_;
    while (i < text_.size() && is_blank(text_[i])) ++i;
    if (i < text_.size() && text_[i] == '\r') ++i;
    return i < text_.size() && text_[i] == '\n';
  }

  void write_escaped() {
    const std::size_t count = length();
    auto character = static_cast<std::uint32_t>(static_cast<unsigned char>(text_[at_]));
    character &= 0x7FU >> count;
    for (std::size_t i = 1; i < count; ++i) {
      character = (character << 6U) | (static_cast<unsigned char>(text_[at_ + i]) & 0x3FU);
    }
    out_ += fmt::format("\\U{:08x}", character);
    skip(count);
  }

  const std::string& text_;
  std::string out_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  int key_parts_ = 1;
  std::string brackets_;   // of arrays and inline tables, from the outermost
  bool in_value_ = false;  // not in a key
  char last_ = '\n';       // the last character but blanks, comments and strings' contents
};

}  // namespace

std::string guard_toml(const std::string& text) { return Guard(text).run(); }

}  // namespace lookout

#include "platform/system/csv.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "pipeline/core/byte_order_mark.h"

namespace lookout {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), place_(byte_order_mark(text)) {}

  std::vector<CsvRow> parse() {
    if (const auto nul = text_.find('\0'); nul != std::string::npos) {
      const auto end = text_.begin() + static_cast<std::ptrdiff_t>(nul);
      fail(static_cast<std::size_t>(std::count(text_.begin(), end, '\n')) + 1,
           "a NUL character; the text has to be UTF-8");
    }
    while (place_ < text_.size()) {
      CsvRow row{line_, {}};
      do {
        row.values.push_back(peek() == '"' ? quoted() : plain());
      } while (skip(','));
      end_line();
      const bool empty = row.values.size() == 1 && row.values[0].empty();
      if (!empty) rows_.push_back(std::move(row));
    }
    return std::move(rows_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw CsvError("line " + std::to_string(line) + ": " + what);
  }

  char peek() const { return place_ < text_.size() ? text_[place_] : '\n'; }

  bool skip(char c) {
    if (place_ == text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }

  std::string plain() {
    const auto end = std::min(text_.find_first_of(",\r\n\"", place_), text_.size());
    const std::string value = text_.substr(place_, end - place_);
    place_ = end;
    if (peek() == '"') fail(line_, "a quote stands in a value that is not quoted");
    return value;
  }

  std::string quoted() {
    const std::size_t begin = line_;
    std::string value;
    ++place_;
    while (true) {
      if (place_ == text_.size()) fail(begin, "a quote is not closed");
      const char c = text_[place_++];
      if (c == '"' && !skip('"')) return value;
      if (c == '\n') ++line_;
      value += c;
    }
  }

  void end_line() {
    skip('\r');
    if (peek() != '\n') fail(line_, "a comma or the line's end has to follow a value");
    ++place_;
    ++line_;
  }

  const std::string& text_;
  std::size_t place_;
  std::size_t line_ = 1;
  std::vector<CsvRow> rows_;
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::string& text) { return Parser(text).parse(); }

}  // namespace lookout

// Comma-separated values, as RFC 4180 defines them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace lookout {

struct CsvRow {
  std::size_t line = 0;  // number of its first line in the text, from 1
  std::vector<std::string> values;
};

// "line 3: a quote is not closed"
class CsvError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Quoted values may contain commas, line ends and "" for a quote. Lines end with \n or \r\n. Empty
// lines and a byte order mark are skipped. Throws CsvError, also for text with NUL characters.
std::vector<CsvRow> parse_csv(const std::string& text);

}  // namespace lookout

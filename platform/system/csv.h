// Comma-separated values, as RFC 4180 has them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace lookout {

struct CsvRow {
  std::size_t line = 0;  // of the text, from 1: where it begins
  std::vector<std::string> values;
};

// "line 3: a quote is not closed"
class CsvError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Values may be quoted, and then hold commas, line ends and "" for a quote. Lines end with \n or
// \r\n, empty ones and a byte order mark are left out. Throws CsvError.
std::vector<CsvRow> parse_csv(const std::string& text);

}  // namespace lookout

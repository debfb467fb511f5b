// A report as one HTML page that needs nothing else: no script, no file, no network. It follows the
// reader's light or dark scheme and fits phones, wide screens and paper.
//
// Texts that are given to these functions may hold anything and are escaped, except for parameters
// called `html`, which are made by these functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/report/report.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// For the content of elements and for attributes in double quotes. Control characters and what is
// not UTF-8 are made visible.
std::string escaped(std::string_view text);

// Whether the file's name ends in .html, in either case.
bool is_html(const std::string& file);

// "inference" with its percentiles of named(), in milliseconds.
Row row_of(const std::string& stage, const Percentiles& percentiles);

std::string to_html(const std::vector<Tile>& tiles);
std::string to_html(const Table& table);
std::string to_html(const Facts& facts);
// The same behind a line that opens it.
std::string details(const std::string& summary, const std::string& html);
// The first `shown` rows, and the others behind a line that opens them.
std::string to_html(Table table, std::size_t shown);

class Page {
 public:
  // `kind`: the command. `title`, `note`: for example the model and the pictures.
  Page(const std::string& kind, const std::string& title, const std::string& note);

  using Width = lookout::Width;
  // `note` explains the part to its reader.
  void add_part(const std::string& title, const std::string& note, const std::string& html,
                Width width = Width::kHalf);
  // A sentence above all others: what the page shows.
  void add_verdict(const std::string& text);
  // Above all parts.
  void add_top(const std::string& html);
  void add_warning(const std::string& text);

  // The whole page.
  std::string to_html(const std::string& footer) const;

 private:
  std::string head_;
  std::string top_;
  std::string parts_;
};

}  // namespace lookout

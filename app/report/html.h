// What charts and pictures of a page are made with. Texts that are given to these functions may
// hold anything and are escaped.
#pragma once

#include <string>
#include <string_view>

#include "app/report/report.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// For the content of elements and for attributes in double quotes. Control characters and what is
// not UTF-8 are made visible.
std::string escaped(std::string_view text);

// "inference" with its percentiles of named(), in milliseconds.
Row row_of(const std::string& stage, const Percentiles& percentiles);

// A part of a page that a Chart may hold.
std::string to_html(const Table& table);

}  // namespace lookout

// The report of `lookout eval` as an HTML page.
#pragma once

#include <functional>
#include <string>

#include "app/eval/eval_result.h"
#include "app/report/html.h"

namespace lookout {

// What the page has besides the report.
struct EvalPageFacts {
  Facts model;
  Facts machine;
  std::string made_by;
  // Returns a small picture of a file as a `data:` URI; empty: none can be made.
  std::function<std::string(const std::string& path)> thumbnail;
};

std::string to_html(const EvalReport& report, const EvalPageFacts& facts);

}  // namespace lookout

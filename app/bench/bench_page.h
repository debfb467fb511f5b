// The report of `lookout bench` as an HTML page.
#pragma once

#include <string>

#include "app/bench/bench_result.h"

namespace lookout {

// `made_by`: the footer.
std::string to_html(const BenchReport& report, const std::string& made_by);

}  // namespace lookout

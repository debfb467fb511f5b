// The report of `lookout train` as an HTML page.
#pragma once

#include <string>

#include "app/train/train_report.h"
#include "pipeline/core/model_facts.h"

namespace lookout {

// `facts`: of the base. Reads the pictures that it shows.
std::string to_html(const TrainReport& report, const ModelFacts& facts);

}  // namespace lookout

// What would make a model better.
#pragma once

#include <string>
#include <vector>

namespace lookout {

struct TrainReport;

// One sentence for each thing that the pictures lack or that looks wrong, most important first. The
// report is complete but for its advice.
std::vector<std::string> advise(const TrainReport& report);

}  // namespace lookout

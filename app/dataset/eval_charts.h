// Charts of what a model was right about, as HTML; see app/report/html.h.
#pragma once

#include <string>
#include <vector>

#include "app/dataset/eval_counts.h"

namespace lookout {

// A table with a row for each right class and a column for each predicted one, shaded by the share
// of the row. With many classes: those that are confused most often, and all others in one column.
std::string matrix_chart(const EvalCounts& counts, const std::vector<std::string>& labels);

// Whether the set has more classes than matrix_chart() shows.
bool is_large(const std::vector<ClassCounts>& classes);

// All classes of a large set: a dot for each pair of classes that were confused.
std::string confusion_map(const EvalCounts& counts);

// The accuracy of pictures with similar scores, beside these scores.
std::string reliability_chart(const Calibration& calibration);

}  // namespace lookout

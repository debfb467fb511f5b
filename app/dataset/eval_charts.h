// Tables and charts of what a model was right about; the charts are HTML, see app/report/html.h.
#pragma once

#include <string>
#include <vector>

#include "app/dataset/eval_counts.h"
#include "app/report/report.h"

namespace lookout {

// "6 green".
std::string numbered_label(const std::vector<std::string>& labels, std::size_t index);

// The classes of the set with their counts.
Table classes_table(const EvalCounts& counts, const std::vector<std::string>& labels);

// The most frequent confusions first, for texts.
Table confusions_table(const EvalCounts& counts, const std::vector<std::string>& labels);

// A table with a row for each right class and a column for each predicted one, shaded by the share
// of the row. With many classes: those that are confused most often, and all others in one column.
std::string matrix_chart(const EvalCounts& counts, const std::vector<std::string>& labels);

// Whether the set has more classes than matrix_chart() shows.
bool is_large(const std::vector<ClassCounts>& classes);

// All classes of a large set: a dot for each pair of classes that were confused.
std::string confusion_map(const EvalCounts& counts);

// The accuracy of pictures with similar scores, beside these scores. Empty without pictures.
Part reliability_part(const Calibration& calibration);

}  // namespace lookout

// The report of `lookout eval` as text and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/dataset/eval_counts.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct EvalReport {
  std::string model;  // its name
  std::string file;   // of the archive
  std::string sha256;
  std::vector<std::string> labels;
  std::optional<std::size_t> unknown;  // as ModelSpec::unknown
  std::string source;
  EvalCounts counts;
  StatsSnapshot stats;        // skipped: pictures that could not be read
  std::uint64_t missing = 0;  // pictures that were not read because of an interruption

  // Pictures of classes that were taken for unknown; nothing when the model has no such output.
  std::optional<std::uint64_t> refused() const;
};

// "705 of 800, 88.12 %"; without a percentage when `all` is 0.
std::string share_of(std::uint64_t part, std::uint64_t all);

// "93.9 % (95 % interval 90.1 to 96.3 %)".
std::string percent_text(double percent, const ConfidenceInterval& interval);

// With a newline at the end. `columns`: labels are shortened so that no line of the tables is
// longer; 0: they are not.
std::string to_text(const EvalReport& report, std::size_t columns = 0);
std::string to_json(const EvalReport& report);  // one line; see app/training.md for the fields

}  // namespace lookout

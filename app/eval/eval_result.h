// What `lookout eval` measured, and its report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/dataset/eval_counts.h"
#include "app/report/report.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct EvalResult {
  std::string model;  // its name
  std::string file;   // of the archive
  std::string sha256;
  std::vector<std::string> labels;
  std::optional<std::size_t> unknown;  // as ModelSpec::unknown
  std::string source;
  EvalCounts counts;
  StatsSnapshot stats;        // skipped: pictures that could not be read
  std::uint64_t missing = 0;  // pictures that were not read because of an interruption

  // Only a page shows what follows.
  Facts model_facts = {};
  Facts machine_facts = {};
  // Returns a small picture of a file as a `data:` URI; empty: none can be made.
  std::function<std::string(const std::string& path)> thumbnail = {};  // null: none are shown

  // Pictures of classes that were taken for unknown; nothing when the model has no such output.
  std::optional<std::uint64_t> refused() const;
};

// `result` has to outlive the report, whose JSON app/training.md describes.
Report make_report(const EvalResult& result);

}  // namespace lookout

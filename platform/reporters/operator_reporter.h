// Logs the table of the operators: at the end, and when asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "pipeline/core/reporter.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/statistics.h"

namespace lookout {

class OperatorReporter : public Reporter {
 public:
  // `table` returns what was measured so far; empty: operators are not sampled. `rows`: as many are
  // logged; 0: 20. `asked` is set by a signal handler, and reset here.
  OperatorReporter(std::function<OperatorTable()> table, std::size_t rows,
                   std::atomic<bool>& asked);

  void tick(const StatsSnapshot& stats) override;
  void poll() override;

 private:
  void log() const;

  std::function<OperatorTable()> table_;
  std::size_t rows_;
  std::atomic<bool>& asked_;
};

}  // namespace lookout

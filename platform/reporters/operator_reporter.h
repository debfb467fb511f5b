// Logs the table of the operators: at the end, and when asked.
#pragma once

#include <atomic>
#include <functional>

#include "pipeline/reporter.h"
#include "pipeline/results/operator_table.h"

namespace lookout {

class OperatorReporter : public Reporter {
 public:
  // `table` returns what was measured so far; empty: operators are not sampled. `asked` is set by a
  // signal handler, and reset here.
  OperatorReporter(std::function<OperatorTable()> table, std::atomic<bool>& asked);

  void tick(const StatsSnapshot& stats) override;
  void beat() override;

 private:
  void log() const;

  std::function<OperatorTable()> table_;
  std::atomic<bool>& asked_;
};

}  // namespace lookout

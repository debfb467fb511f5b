#include "platform/reporters/operator_reporter.h"

#include <string>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kDefaultRows = 20;

}  // namespace

OperatorReporter::OperatorReporter(std::function<OperatorTable()> table, std::size_t rows,
                                   std::atomic<bool>& asked)
    : table_(std::move(table)), rows_(rows == 0 ? kDefaultRows : rows), asked_(asked) {}

void OperatorReporter::tick(const StatsSnapshot& stats) {
  if (stats.final && table_) log();
}

void OperatorReporter::poll() {
  if (!asked_.load(std::memory_order_relaxed) || !asked_.exchange(false)) return;
  if (table_) {
    log();
  } else {
    log_info("operators are not sampled: start with --set profile.op-sampling=0.01");
  }
}

void OperatorReporter::log() const {
  for (const std::string& line : to_text(table_(), OperatorTimes::kPerFrame, rows_)) {
    log_info("{}", line);
  }
}

}  // namespace lookout

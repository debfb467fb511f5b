#include "app/run/stats_interval.h"

#include <unistd.h>

#include "platform/system/journal.h"
#include "platform/system/results_output.h"

namespace lookout {

std::chrono::milliseconds stats_interval(std::chrono::milliseconds option) {
  if (option.count() > 0) return option;
  const bool journal = is_journal(results_fd()) || is_journal(STDERR_FILENO);
  return journal ? std::chrono::minutes(1) : std::chrono::seconds(1);
}

}  // namespace lookout

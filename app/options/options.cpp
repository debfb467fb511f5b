#include "app/options/options.h"

#include "pipeline/core/error.h"

namespace lookout {

StateOptions state_options(const RunOptions& options) {
  const double enter = options.state.enter_threshold.value_or(options.results.threshold);
  StateOptions state;
  state.smoothing = options.state.smoothing;
  state.enter_threshold = static_cast<float>(enter);
  state.leave_threshold = static_cast<float>(options.state.leave_threshold.value_or(enter));
  state.min_duration = options.state.min_duration;
  return state;
}

}  // namespace lookout

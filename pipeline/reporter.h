// Who is told what was seen.
#pragma once

#include "pipeline/frame.h"
#include "pipeline/result.h"
#include "pipeline/statistics.h"

namespace lookout {

// Called by the inference thread alone. Neither call may block for long: classification waits.
// References are valid during the call.
class Reporter {
 public:
  virtual ~Reporter() = default;

  virtual void report(const Result& result, const Frame& frame) = 0;

  // Comes every statistics interval, also when there were no frames, and once at the end (`final`).
  virtual void tick(const StatsSnapshot& stats) = 0;
};

}  // namespace lookout

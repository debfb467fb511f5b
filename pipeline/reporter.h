// Who is told what was seen.
#pragma once

#include "pipeline/frame.h"
#include "pipeline/result.h"
#include "pipeline/results/camera_status.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// Called by the inference thread alone. No call may block for long: classification waits.
// References are valid during the call.
class Reporter {
 public:
  virtual ~Reporter() = default;

  virtual void report(const Result& result, const Frame& frame) = 0;

  // Comes every statistics interval, also when there were no frames, and once at the end (`final`).
  virtual void tick(const StatsSnapshot& stats) = 0;

  // Comes when the camera went away or came back; a camera is online until this says otherwise.
  virtual void status(const CameraStatus& /*status*/) {}

  // Comes as long as the frame loop turns: at least every 100 ms + one inference, also without
  // frames.
  virtual void beat() {}
};

}  // namespace lookout

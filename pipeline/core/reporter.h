// Receives the results, statistics and camera events of a run.
#pragma once

#include "pipeline/core/camera_status.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/result.h"

namespace lookout {

struct StatsSnapshot;

// All methods are called by the inference thread alone. No call may block for long: classification
// waits for it. References are valid during the call. A reporter overrides the methods it needs.
class Reporter {
 public:
  virtual ~Reporter() = default;

  // Called when a run begins, and before the first result of another watch or model. What depends
  // on models and watches is made here. A watch that is missing in the list is gone.
  virtual void watching(const WatchList& /*watches*/) {}

  // Called for each classified frame, in the order of the frames; for each watch that has a result
  // of the frame when there are several.
  virtual void report(const Result& /*result*/, const Frame& /*frame*/) {}

  // Called once every statistics interval, also when there were no frames, and once at the end
  // (`final`).
  virtual void tick(const StatsSnapshot& /*stats*/) {}

  // Called when the camera went away or came back. A camera is online at the start.
  virtual void status(const CameraStatus& /*status*/) {}

  // Called in each turn of the frame loop: at least every 100 ms + one inference, also without
  // frames; while the source is idle, every second. Not while an inference of a worker or a read of
  // the source takes so long that it may never end.
  virtual void poll() {}
};

}  // namespace lookout

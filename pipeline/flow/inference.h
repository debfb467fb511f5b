// The inference side of the pipeline: on the calling thread, or on workers.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "pipeline/flow/frame_classifier.h"
#include "pipeline/flow/latest.h"
#include "pipeline/flow/workers.h"

namespace lookout {

// With one classifier, take() classifies on the calling thread. Several have a thread each.
class Inference {
 public:
  // `frames` and `trace` (null: none) outlive it. `classifiers`: at least one.
  Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace);

  // The next frame, classified; otherwise as Latest::take(). Throws what classifying it threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout);

  // Ends the workers, if there are any.
  void stop() { workers_.reset(); }

 private:
  Latest<Frame>& frames_;
  Trace* const trace_;
  std::optional<FrameClassifier> classifier_;  // either this
  std::optional<Workers> workers_;             // or these
};

}  // namespace lookout

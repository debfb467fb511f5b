// The inference side of the pipeline: on the calling thread, or on workers.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "pipeline/core/latest.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/picture_queue.h"
#include "pipeline/run/workers.h"

namespace lookout {

// With one classifier, take() classifies on the calling thread. Several have a thread each.
class Inference {
 public:
  // `frames`, `trace` and `pictures` (null: none) outlive it. `classifiers`: at least one.
  Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace,
            PictureQueue* pictures);
  ~Inference() { stop(); }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // The next frame, classified; otherwise as Latest::take(). Throws what classifying it threw.
  TakeStatus take(ClassifiedFrame& classified, std::chrono::milliseconds timeout);

  // Ends the workers, if there are any, and closes `pictures`.
  void stop();

 private:
  Latest<Frame>& frames_;
  Trace* const trace_;
  PictureQueue* const pictures_;
  // One classifier: these two, the second if there are pictures.
  std::optional<FrameClassifier> classifier_;
  std::optional<FrameClassifier> picture_classifier_;
  std::optional<Workers> workers_;  // several
};

}  // namespace lookout

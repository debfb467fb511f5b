// Classifies one frame: preprocessing, inference, top k.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/result.h"
#include "pipeline/model/preprocessor.h"

namespace lookout {

class Trace;
struct Plan;

// Shared by those who classify with it: see plan_slot.h.
using PlanPtr = std::shared_ptr<const Plan>;

// What was computed of a region of a frame. It is swapped between threads, so its memory is reused.
struct ClassifiedRegion {
  std::size_t region = 0;
  std::vector<float> scores;  // of all classes
  Result result;              // complete except for its age, the state and the counts
};

// A frame and its result. If several regions of the picture are classified, they come one after the
// other. It is swapped between threads, too.
struct ClassifiedFrame : ClassifiedRegion {
  Frame frame;
  PlanPtr plan;         // with which it was taken
  bool is_last = true;  // of the regions that have a result of this frame
};

// What the result has of the frame before anything is computed.
void begin_result(const Frame& frame, Result& result);

// Decodes what classify() would decode of the frame, which several threads may classify afterwards.
void decode_for_model(Frame& frame);

// Used by one thread at a time. The classifier outlives it.
class FrameClassifier {
 public:
  // Results are of `model`, which `classifier` computes, and hold the `top_k` best predictions with
  // a score of at least `threshold`.
  FrameClassifier(Classifier& classifier, ModelInfoPtr model, const View& view, std::size_t top_k,
                  float threshold);

  // Fills in the scores and the result. `trace` records the stages; null: none. Throws what the
  // classifier throws; the result has all but scores and predictions then.
  void classify(Frame& frame, ClassifiedRegion& classified, Trace* trace = nullptr);
  void classify(ClassifiedFrame& classified, Trace* trace = nullptr) {
    classify(classified.frame, classified, trace);
  }

 private:
  void preprocess(Frame& frame);

  Classifier& classifier_;
  ModelInfoPtr model_;
  std::size_t top_k_;
  float threshold_;
  Preprocessor preprocessor_;
  ImageTensor image_;
  std::vector<float> logits_;
};

}  // namespace lookout

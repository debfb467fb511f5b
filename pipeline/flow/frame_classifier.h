// What happens to one frame: preprocessing, inference, top k.
#pragma once

#include <vector>

#include "pipeline/classifier.h"
#include "pipeline/frame.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/pipeline.h"
#include "pipeline/result.h"

namespace lookout {

// A frame and what came of it. Swapped between threads, so that its memory is used again.
struct ClassifiedFrame {
  Frame frame;
  std::vector<float> scores;  // of all classes
  Result result;              // but for its age, the state and the counts
};

// Used by one thread at a time. `classifier` and `options` outlive it.
class FrameClassifier {
 public:
  FrameClassifier(Classifier& classifier, const PipelineOptions& options);

  // Fills in the rest of `classified`, whose frame is given. Throws what the classifier throws.
  void classify(ClassifiedFrame& classified);

 private:
  Classifier& classifier_;
  const PipelineOptions& options_;
  Preprocessor preprocessor_;
  ImageTensor image_;
  std::vector<float> logits_;
};

}  // namespace lookout

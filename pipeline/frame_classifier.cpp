#include "pipeline/frame_classifier.h"

#include "pipeline/top_k.h"

namespace lookout {

FrameClassifier::FrameClassifier(Classifier& classifier, const PipelineOptions& options)
    : classifier_(classifier),
      options_(options),
      preprocessor_(classifier.spec().input, options.view) {}

void FrameClassifier::classify(ClassifiedFrame& classified) {
  const Frame& frame = classified.frame;
  Result& result = classified.result;
  const auto start = Clock::now();
  preprocessor_.run(frame.bgr, image_);
  const auto preprocessed = Clock::now();
  classifier_.classify(image_, logits_);
  const auto inferred = Clock::now();
  softmax(logits_, classified.scores);
  top_k(logits_, classified.scores, classifier_.spec().labels, options_.top_k, options_.threshold,
        result.top);
  result.sequence = frame.sequence;
  result.durations.capture = frame.capture_duration;
  result.durations.preprocess = preprocessed - start;
  result.durations.inference = inferred - preprocessed;
  result.durations.total = frame.capture_duration + (Clock::now() - start);
}

}  // namespace lookout

#include "pipeline/flow/frame_classifier.h"

#include "pipeline/model/top_k.h"

namespace lookout {

FrameClassifier::FrameClassifier(Classifier& classifier, const PipelineOptions& options)
    : classifier_(classifier),
      options_(options),
      preprocessor_(classifier.spec().input, options.view) {}

void FrameClassifier::classify(ClassifiedFrame& classified) {
  const Frame& frame = classified.frame;
  Result& result = classified.result;
  const FrameScope scope(frame.sequence, options_.trace);
  const auto start = Clock::now();
  preprocessor_.run(frame.bgr, image_);
  const auto preprocessed = Clock::now();
  classifier_.classify(image_, logits_);
  const auto inferred = Clock::now();
  softmax(logits_, classified.scores);
  top_k(logits_, classified.scores, classifier_.spec().labels, options_.top_k, options_.threshold,
        result.top);
  const auto done = Clock::now();
  if (Trace* trace = current_frame().trace) {
    trace->record(Stage::kQueueWait, frame.sequence, frame.queued, start);
    trace->record(Stage::kPreprocess, frame.sequence, start, preprocessed);
    trace->record(Stage::kInference, frame.sequence, preprocessed, inferred);
    trace->record(Stage::kTopK, frame.sequence, inferred, done);
  }
  result.sequence = frame.sequence;
  result.durations.capture = frame.capture_duration;
  result.durations.preprocess = preprocessed - start;
  result.durations.inference = inferred - preprocessed;
  result.durations.total = frame.capture_duration + (done - start);
}

}  // namespace lookout

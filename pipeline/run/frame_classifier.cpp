#include "pipeline/run/frame_classifier.h"

#include <utility>

#include "pipeline/model/top_k.h"
#include "pipeline/profile/trace.h"

namespace lookout {

FrameClassifier::FrameClassifier(Classifier& classifier, ModelInfoPtr model, const View& view,
                                 std::size_t top_k, float threshold)
    : classifier_(classifier),
      model_(std::move(model)),
      top_k_(top_k),
      threshold_(threshold),
      preprocessor_(classifier.spec().input, view) {}

void begin_result(const Frame& frame, Result& result) {
  result.sequence = frame.sequence;
  result.durations = {};
  result.durations.capture = frame.capture_duration;
  result.durations.total = frame.capture_duration;
}

void decode_for_model(Frame& frame) {
  CameraPicture& picture = frame.picture;
  if (picture.kind != CameraPicture::Kind::kJpeg || picture.has_reduced) return;
  if (!picture.decode(picture, picture.eighths, picture.reduced)) {
    picture.reduced = whole_picture(frame);
  }
  picture.has_reduced = true;
}

void FrameClassifier::preprocess(Frame& frame) {
  const CameraPicture& picture = frame.picture;
  switch (picture.kind) {
    case CameraPicture::Kind::kNone:
      preprocessor_.run(frame.bgr, image_);
      return;
    case CameraPicture::Kind::kRaw:
      preprocessor_.run(picture.raw(), image_);
      return;
    case CameraPicture::Kind::kJpeg:
      decode_for_model(frame);
      preprocessor_.run(picture.reduced, image_);
      return;
  }
}

void FrameClassifier::classify(Frame& frame, ClassifiedRegion& classified, Trace* trace) {
  Result& result = classified.result;
  begin_result(frame, result);
  result.model = model_;
  result.top.clear();
  classified.scores.clear();
  const bool traced = trace != nullptr && trace->traces(frame.sequence);
  const FrameContext context{frame.sequence, traced ? trace : nullptr};
  const StageMark start = mark_now(traced);
  preprocess(frame);
  const StageMark preprocessed = mark_now(traced);
  classifier_.classify(image_, context, logits_);
  const StageMark inferred = mark_now(traced);
  if (classifier_.spec().output.value_or(ModelOutput::kLogits) == ModelOutput::kLogits) {
    softmax(logits_, classified.scores);
  } else {
    classified.scores = logits_;
  }
  top_k(logits_, classified.scores, model_->labels, top_k_, threshold_, result.top);
  const StageMark done = mark_now(traced);
  if (traced) {
    trace->record(Stage::kPreprocess, frame.sequence, start, preprocessed);
    trace->record(Stage::kInference, frame.sequence, preprocessed, inferred);
    trace->record(Stage::kTopK, frame.sequence, inferred, done);
  }
  result.durations.preprocess = preprocessed.time - start.time;
  result.durations.inference = inferred.time - preprocessed.time;
  result.durations.total += done.time - start.time;
}

}  // namespace lookout

#include "pipeline/flow/inference.h"

#include <utility>

namespace lookout {

Inference::Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace)
    : frames_(frames), trace_(trace) {
  if (classifiers.size() > 1) {
    workers_.emplace(frames, std::move(classifiers), trace);
  } else {
    classifier_.emplace(std::move(classifiers.front()));
  }
}

TakeStatus Inference::take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
  if (workers_) return workers_->take(classified, timeout);
  const TakeStatus status = frames_.take(classified.frame, timeout);
  if (status == TakeStatus::kTaken) classifier_->classify(classified, trace_);
  return status;
}

}  // namespace lookout

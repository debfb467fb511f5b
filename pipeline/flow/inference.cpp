#include "pipeline/flow/inference.h"

#include <utility>

namespace lookout {

Inference::Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace,
                     PictureQueue* pictures)
    : frames_(frames), trace_(trace), pictures_(pictures) {
  if (classifiers.size() > 1) {
    workers_.emplace(frames, std::move(classifiers), trace, pictures);
  } else {
    classifier_.emplace(std::move(classifiers.front()));
  }
  if (pictures != nullptr) pictures->set_wake([&frames] { frames.interrupt(); });
}

TakeStatus Inference::take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
  if (workers_) return workers_->take(classified, timeout);
  if (pictures_ != nullptr) pictures_->classify_overdue(classifier_->classifier());
  const bool picture_waits = pictures_ != nullptr && pictures_->is_waiting();
  const TakeStatus status =
      frames_.take(classified.frame, picture_waits ? std::chrono::milliseconds(0) : timeout);
  if (status == TakeStatus::kTaken) classifier_->classify(classified, trace_);
  if (status == TakeStatus::kTimeout && pictures_ != nullptr) {
    pictures_->classify_waiting(classifier_->classifier());
  }
  return status;
}

void Inference::stop() {
  if (pictures_ != nullptr) pictures_->close();
  workers_.reset();
}

}  // namespace lookout

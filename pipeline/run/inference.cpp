#include "pipeline/run/inference.h"

#include <utility>

namespace lookout {

Inference::Inference(Latest<Frame>& frames, std::vector<FrameClassifier> classifiers, Trace* trace,
                     PictureQueue* pictures)
    : frames_(frames), trace_(trace), pictures_(pictures) {
  if (classifiers.size() > 1) {
    workers_.emplace(frames, std::move(classifiers), trace, pictures);
  } else {
    classifier_.emplace(std::move(classifiers.front()));
    if (pictures != nullptr)
      picture_classifier_.emplace(pictures->make_classifier(classifier_->classifier()));
  }
  if (pictures != nullptr) pictures->set_wake([&frames] { frames.interrupt(); });
}

TakeStatus Inference::take(ClassifiedFrame& classified, std::chrono::milliseconds timeout) {
  if (workers_) return workers_->take(classified, timeout);
  if (picture_classifier_) pictures_->classify_overdue(*picture_classifier_);
  const bool picture_waits = picture_classifier_ && pictures_->is_waiting();
  const TakeStatus status =
      frames_.take(classified.frame, picture_waits ? std::chrono::milliseconds(0) : timeout);
  if (status == TakeStatus::kTaken) classifier_->classify(classified, trace_);
  if (status == TakeStatus::kTimeout && picture_classifier_)
    pictures_->classify_waiting(*picture_classifier_);
  return status;
}

void Inference::stop() {
  if (pictures_ != nullptr) pictures_->close();
  workers_.reset();
}

}  // namespace lookout

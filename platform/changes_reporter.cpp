#include "platform/changes_reporter.h"

namespace lookout {

void ChangesReporter::report(const Result& result, const Frame& frame) {
  const std::string_view label = result.top.empty() ? std::string_view() : result.top[0].label;
  if (last_label_ == label) return;
  last_label_ = label;
  to_->report(result, frame);
}

void ChangesReporter::status(const CameraStatus& status) {
  last_label_.reset();
  to_->status(status);
}

}  // namespace lookout

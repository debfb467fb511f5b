// Completes the result of a frame with its age, its time and the state, and a reused result with
// its predictions.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/results/state_tracker.h"
#include "pipeline/run/frame_classifier.h"

namespace lookout {

// Used by one thread.
class ResultCompleter {
 public:
  explicit ResultCompleter(const StateOptions& options) : tracker_(options) {}

  // As StateTracker::use().
  void use(const StateOptions& options) { tracker_.use(options); }

  // Call it when the camera was away: the state from before says nothing about now.
  void forget_state() { tracker_.reset(); }

  // `dropped`: frames that were dropped since the start. A reused result takes the predictions of
  // the last one that was computed. The scores of `classified` are unspecified afterwards, unless
  // `keep_scores` is set: for another state of the same region.
  void complete(ClassifiedFrame& classified, std::uint64_t dropped, bool keep_scores = false);

  // As StateTracker::is_settled().
  bool is_settled() const { return tracker_.is_settled(); }

 private:
  StateTracker tracker_;
  // Of the last result that was computed.
  std::vector<float> scores_;
  std::vector<Prediction> top_;
  ModelInfoPtr model_;
};

}  // namespace lookout

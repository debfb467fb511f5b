// Completes the result of a frame with its age, its time and the state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/results/state_tracker.h"
#include "pipeline/run/frame_classifier.h"

namespace lookout {

// Used by one thread. `labels` outlive it.
class ResultCompleter {
 public:
  ResultCompleter(const std::vector<std::string>& labels, const StateOptions& options)
      : labels_(labels), tracker_(options) {}

  // Call it when the camera was away: the state from before says nothing about now.
  void forget_state() { tracker_.reset(); }

  // `dropped`: frames that were dropped since the start.
  void complete(ClassifiedFrame& classified, std::uint64_t dropped);

 private:
  const std::vector<std::string>& labels_;
  StateTracker tracker_;
};

}  // namespace lookout

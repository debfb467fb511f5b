// From the scores of each frame to a state that people can use: steady, or "unknown".
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pipeline/result.h"

namespace lookout {

// The defaults: the state is the class with the best score of the frame.
struct StateOptions {
  std::chrono::milliseconds smoothing{0};  // time constant; 0: none
  float enter_threshold = 0;               // 0..1
  float leave_threshold = 0;               // 0..1, at most enter_threshold
  std::chrono::milliseconds min_duration{0};
};

// Three steps, one after the other, over the scores of all classes:
//
// 1. Smoothing. Each class's value v follows its score s: v += (1 - exp(-dt / smoothing)) (s - v),
//    where dt is the time between the captures of this frame and the one before. So frames that
//    were dropped or came late change nothing in how fast v follows: after a change of the picture
//    it has gone 63 % of the way in the time `smoothing`, whatever the frame rate. The first
//    frame's scores are taken as they are.
// 2. Thresholds. The class with the highest value is entered when that is at least
//    `enter_threshold`. Else the class that was entered last stays as long as its own value is at
//    least `leave_threshold`; else the state is unknown.
// 3. Duration. What comes out of that becomes the state when it has been the same for
//    `min_duration`, by the times of capture, without a break. That goes for the first state, too;
//    before it there is none.
//
// Used by one thread. Allocates with the first frame only.
class StateTracker {
 public:
  explicit StateTracker(const StateOptions& options) : options_(options) {}

  // `scores`: of all classes, 0..1, as many at each call. `labels`: as many; they must outlive the
  // state. `captured`: of the frame, not before that of the last call. Returns whether the state
  // changed.
  bool update(const std::vector<float>& scores, const std::vector<std::string>& labels,
              Clock::time_point captured);

  // Forgets everything: the next state is a change even if it is the old one.
  void reset();

  const SceneState& state() const { return state_; }
  // The one before; kNone for the first.
  const SceneState& previous() const { return previous_; }

 private:
  const std::vector<float>& smooth(const std::vector<float>& scores, Clock::time_point captured);

  StateOptions options_;
  std::vector<float> values_;        // smoothed scores; empty before the first frame
  Clock::time_point last_captured_;  // of values_
  SceneState entered_;               // what the second step says...
  Clock::time_point entered_since_;  // ...and since when
  SceneState state_;
  SceneState previous_;
};

}  // namespace lookout

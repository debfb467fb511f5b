// Derives a steady scene state from the scores of the frames.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "pipeline/core/result.h"

namespace lookout {

// With the defaults the state is the class with the best score of the frame.
struct StateOptions {
  std::chrono::milliseconds smoothing{0};  // time constant; 0: none
  float enter_threshold = 0;               // 0..1
  float leave_threshold = 0;               // 0..1, at most enter_threshold
  std::chrono::milliseconds min_duration{0};
};

// Works in three steps on the scores of all classes:
//
// 1. Smoothing. Each class's value v follows its score s: v += (1 - exp(-dt / smoothing)) (s - v),
//    where dt is the time between this frame and the previous one. After a change of the picture, v
//    covers 63 % of the way in the time `smoothing`, whatever the frame rate and however many
//    frames are dropped. The first frame's scores are taken unchanged.
//
// 2. Thresholds. The class with the highest value is the candidate if the value is at least
//    `enter_threshold`. Otherwise the last class stays the candidate while its value is at least
//    `leave_threshold`. Otherwise the candidate is "unknown", as it is when the model gives no
//    scores for the frame, after which smoothing begins anew. When the highest value is that of the
//    model's output `unknown`, the last class stays if `leave_threshold` is the lower one alone.
//
// 3. Duration. A candidate becomes the state once it has been the same for `min_duration`, measured
//    between the times of frames. This applies to the first state, too: until then it is kNone.
//
// With another model it begins anew, but for the state, which stays if the model has its label: the
// same label is no change. Otherwise there is no state until one is found, and that is a change
// from the state before.
//
// Used by one thread at a time. Allocates memory for the first frame of a model only.
class StateTracker {
 public:
  // So many computed frames tell how far scores differ by noise: see is_settled().
  static constexpr std::size_t kSamples = 4;

  explicit StateTracker(const StateOptions& options) : options_(options) {}

  // From now on; the state, the smoothed scores and the candidate stay.
  void use(const StateOptions& options) { options_ = options; }

  // `scores`: one for each class of `model`, 0..1, or none at all. `time`: when the frame was
  // captured; of a video, its time in it. Not before that of the last call. `computed`: false for
  // the scores of an earlier frame, which this one shares. Returns whether the state changed.
  bool update(const std::vector<float>& scores, const ModelInfoPtr& model, Clock::time_point time,
              bool computed = true);

  // Whether one frame's scores may stand for those of the frames that follow and show the same.
  // Without smoothing: always. With smoothing: if other noise would give the same candidate. The
  // margin to the second best class and to each threshold has to be over 0.3, or over two standard
  // deviations of the last kSamples computed frames. The numbers were chosen on 114 videos, whose
  // states are those of runs that compute each frame (tests/bench/README.md).
  bool is_settled() const;

  // Forgets all frames. The next state counts as a change even if it is the same.
  void reset();

  const SceneState& state() const { return state_; }
  // The state before the last change; kNone for the first.
  const SceneState& previous() const { return previous_; }

 private:
  void adopt(const ModelInfoPtr& model);
  void forget_scores();
  const std::vector<float>& smooth(const std::vector<float>& scores, Clock::time_point time);
  void keep_sample(const std::vector<float>& scores);
  // The second step.
  SceneState candidate(const std::vector<float>& values) const;
  template <typename MarginOf>
  bool is_clear(const MarginOf& margin_of) const;

  StateOptions options_;
  std::vector<float> values_;  // smoothed scores; empty before the first frame
  std::array<std::vector<float>, kSamples> samples_;  // the last computed scores, in any order
  std::size_t samples_seen_ = 0;
  Clock::time_point last_time_;  // of values_
  ModelInfoPtr model_;
  SceneState entered_;  // the candidate of the second step
  Clock::time_point entered_since_;
  SceneState state_;
  SceneState lost_;  // the state whose label the model does not have, until there is one again
  SceneState previous_;
};

}  // namespace lookout

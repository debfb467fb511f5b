#include "pipeline/results/state_tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lookout {
namespace {

bool same(const SceneState& a, const SceneState& b) {
  if (a.kind != b.kind) return false;
  return a.kind != SceneState::Kind::kClass || a.prediction.index == b.prediction.index;
}

}  // namespace

const std::vector<float>& StateTracker::smooth(const std::vector<float>& scores,
                                               Clock::time_point time) {
  if (options_.smoothing.count() == 0 || scores.empty()) return scores;
  if (values_.empty()) {
    values_ = scores;
  } else {
    const std::chrono::duration<double> dt = time - last_time_;
    const std::chrono::duration<double> time_constant = options_.smoothing;
    const auto weight = static_cast<float>(-std::expm1(-dt / time_constant));
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] += weight * (scores[i] - values_[i]);
  }
  last_time_ = time;
  return values_;
}

void StateTracker::keep_sample(const std::vector<float>& scores) {
  if (samples_seen_ == 0) samples_.fill(scores);
  samples_[samples_seen_++ % kSamples] = scores;
}

// `margin_of`: how far the scores of a frame are above what they are compared with.
template <typename MarginOf>
bool StateTracker::is_clear(const MarginOf& margin_of) const {
  constexpr float kWideMargin = 0.3F;
  constexpr float kDeviations = 2;
  const float smoothed = margin_of(values_);
  if (std::abs(smoothed) > kWideMargin) return true;
  float sum = 0;
  float squares = 0;
  for (const std::vector<float>& sample : samples_) sum += margin_of(sample);
  const float mean = sum / kSamples;
  for (const std::vector<float>& sample : samples_) {
    const float difference = margin_of(sample) - mean;
    squares += difference * difference;
  }
  const float noise = kDeviations * std::sqrt(squares / (kSamples - 1));
  return smoothed > 0 ? std::min(smoothed, mean) >= noise : std::max(smoothed, mean) <= -noise;
}

bool StateTracker::is_settled() const {
  if (options_.smoothing.count() == 0) return true;
  if (values_.empty() || samples_seen_ < kSamples) return false;
  const auto best =
      static_cast<std::size_t>(std::max_element(values_.begin(), values_.end()) - values_.begin());
  const auto beyond = [](std::size_t index, float threshold) {
    return
        [index, threshold](const std::vector<float>& scores) { return scores[index] - threshold; };
  };
  std::size_t second = best;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (i != best && (second == best || values_[i] > values_[second])) second = i;
  }
  if (second != best && !is_clear([best, second](const std::vector<float>& scores) {
        return scores[best] - scores[second];
      })) {
    return false;
  }
  if (options_.enter_threshold > 0 && !is_clear(beyond(best, options_.enter_threshold))) {
    return false;
  }
  return entered_.kind != SceneState::Kind::kClass || options_.leave_threshold <= 0 ||
         is_clear(beyond(entered_.prediction.index, options_.leave_threshold));
}

void StateTracker::forget_scores() {
  values_.clear();
  samples_seen_ = 0;
}

void StateTracker::adopt(const ModelInfoPtr& model) {
  model_ = model;
  forget_scores();
  if (state_.kind == SceneState::Kind::kNone) state_ = std::exchange(lost_, {});
  if (state_.kind == SceneState::Kind::kClass) {
    const auto& labels = model_->labels;
    const auto same_label = std::find(labels.begin(), labels.end(), state_.name());
    if (same_label == labels.end()) {
      lost_ = std::exchange(state_, {});
    } else {
      state_.prediction.index = static_cast<std::size_t>(same_label - labels.begin());
      state_.prediction.label = *same_label;
      state_.model = model_;
    }
  }
  entered_ = state_;
}

SceneState StateTracker::candidate(const std::vector<float>& values) const {
  SceneState next;
  next.kind = SceneState::Kind::kUnknown;
  if (values.empty()) return next;
  const auto best =
      static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  const bool is_unknown = model_->unknown == best;
  if (!is_unknown && values[best] >= options_.enter_threshold) {
    next.kind = SceneState::Kind::kClass;
    next.prediction.index = best;
    return next;
  }
  // With one threshold alone nothing is held against the model's own "unknown".
  const bool holds = !is_unknown || options_.leave_threshold < options_.enter_threshold;
  const bool is_class = entered_.kind == SceneState::Kind::kClass;
  if (holds && is_class && values[entered_.prediction.index] >= options_.leave_threshold) {
    return entered_;
  }
  return next;
}

bool StateTracker::update(const std::vector<float>& scores, const ModelInfoPtr& model,
                          Clock::time_point time, bool computed) {
  if (model != model_) adopt(model);
  if (scores.empty()) {
    forget_scores();
  } else if (computed && options_.smoothing.count() > 0) {
    keep_sample(scores);
  }
  const std::vector<float>& values = smooth(scores, time);
  const SceneState next = candidate(values);
  if (!same(next, entered_)) entered_since_ = time;
  entered_ = next;

  const bool changed = !same(entered_, state_) && time - entered_since_ >= options_.min_duration;
  if (changed) {
    const bool is_lost = state_.kind == SceneState::Kind::kNone;
    previous_ = is_lost ? std::exchange(lost_, {}) : state_;
    state_ = entered_;
    if (state_.kind == SceneState::Kind::kClass) state_.model = model_;
  }
  if (state_.kind == SceneState::Kind::kClass) {
    Prediction& prediction = state_.prediction;
    prediction.label = model_->labels[prediction.index];
    if (!values.empty()) prediction.score = values[prediction.index];
  }
  return changed;
}

void StateTracker::reset() {
  forget_scores();
  entered_ = {};
  state_ = {};
  lost_ = {};
  previous_ = {};
}

}  // namespace lookout

// The result of one frame.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <opencv2/core/types.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

struct Prediction {
  std::size_t index = 0;   // of the model's output
  std::string_view label;  // lives in the ModelInfo that is beside it
  float score = 0;         // 0..1, by ModelSpec::output
};

// Time spent on one frame. `total` is capture + preprocess + inference + picking the top k; waiting
// in the double buffer is part of the frame's age, not of these.
struct StageDurations {
  Clock::duration capture{};
  Clock::duration preprocess{};
  Clock::duration inference{};
  Clock::duration total{};
};

// The debounced best prediction: steadier than that of a single frame. See state_tracker.h.
struct SceneState {
  // None: before the first, and until one is found after the camera was away.
  enum class Kind { kNone, kUnknown, kClass };

  Kind kind = Kind::kNone;
  Prediction prediction{};  // of kClass; its score is smoothed
  ModelInfoPtr model{};     // of kClass: whose label it is

  // The label, "unknown", or an empty text for kNone.
  std::string_view name() const;
};

// What a result is about when a run watches several things.
// Immutable: results share it, and it lives as long as they do.
struct WatchInfo {
  std::string name;     // letters, digits, - and _: its identity in topics, files and commands
  cv::Rect2d roi;       // as View::roi
  std::string title{};  // for people, who may change it at any time; empty: the name
  bool taught = false;  // by an owner; pictures of it may be kept, to learn from

  const std::string& shown() const { return title.empty() ? name : title; }
};

using WatchInfoPtr = std::shared_ptr<const WatchInfo>;

// A watch of a run and the model that it has now.
struct Watching {
  WatchInfoPtr watch;  // null: the only one, without a name
  ModelInfoPtr model;
};

// All of a run, at least one, in the order of the configuration.
using WatchList = std::vector<Watching>;

struct Result {
  WatchInfoPtr watch;  // whose result it is; null: the run watches one thing, without a name
  ModelInfoPtr model;  // whose predictions these are; never null in a run
  std::uint64_t sequence = 0;                          // the frame's
  std::chrono::system_clock::time_point timestamp;     // wall clock time of the frame's capture
  std::optional<std::chrono::nanoseconds> media_time;  // the frame's
  Clock::duration frame_age{};                         // capture until this result was ready
  StageDurations durations;
  std::uint64_t dropped = 0;    // frames since the start that were dropped for a newer one
  std::vector<Prediction> top;  // best first; at most k, none below the threshold; not smoothed
  // The frame shows what the last classified one showed, so that its predictions are taken: it was
  // neither preprocessed nor classified.
  bool reused = false;
  SceneState state;            // at this frame; of `model`
  bool state_changed = false;  // with this frame
  // Before the last change, perhaps of another model; kNone: this is the first state.
  SceneState previous_state;
};

// Of the best class's score before the second's: less is unsure.
inline constexpr float kSureLead = 0.3F;

// Whether a label for the frame tells a model more than most: no class reaches the run's threshold,
// the model takes it for none of its classes, or it took another class for almost as likely.
bool is_unsure(const Result& result);

}  // namespace lookout

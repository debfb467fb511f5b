// What a run classifies and watches: all of it that another plan may replace between two frames.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/core/reporter.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/results/state_tracker.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/frame_selector.h"

namespace lookout {

// A part of the picture, classified by a model. Two regions may have the same classifiers.
struct PipelineRegion {
  std::vector<std::shared_ptr<Classifier>> classifiers;  // a copy for each worker
  ModelInfoPtr model;
  View view;
  std::chrono::milliseconds at_least_every{1000};  // as SelectedRegion
  // What the first classifier computes with, if others may have the same: regions of the same one
  // that look at the same part of a frame share an inference. Null: they do not.
  std::shared_ptr<const void> base{};
};

// A state that is derived from the results of a region, of which several may have the same.
struct PipelineWatch {
  WatchInfoPtr info;       // null: the only one, without a name
  std::size_t region = 0;  // index
  StateOptions state;
};

// Immutable once it is in a PlanSlot. Plans share what they have in common: models and reporters.
struct Plan {
  std::vector<PipelineRegion> regions;  // at least one
  std::vector<PipelineWatch> watches;   // at least one
  // Results hold the `top_k` best predictions with a score of at least `threshold`.
  std::size_t top_k = 10;
  float threshold = 0;
  SelectionOptions selection;  // not used: at_least_every
  // Degrees Celsius of the processor, above which fewer frames are classified; needs a selector and
  // PipelineOptions::machine_state. Empty: no limit.
  std::optional<double> heat_limit;
  // Those of this plan, beside the run's. They come first.
  std::vector<std::shared_ptr<Reporter>> reporters;
};

// The regions as a FrameSelector takes them.
std::vector<SelectedRegion> selected_regions(const Plan& plan);

// The watches with their models.
WatchList watch_list(const Plan& plan);

}  // namespace lookout

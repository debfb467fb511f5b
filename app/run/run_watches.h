// The models and regions of what a run watches.
#pragma once

#include <functional>
#include <vector>

#include "app/model/models.h"
#include "app/options/watches.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/pipeline.h"

namespace lookout {

// A watch and what is open of it.
struct OpenWatch {
  Watch watch;
  WatchInfoPtr info;       // null: it has no name
  std::size_t region = 0;  // of OpenWatches
};

// Watches of the same model file and labels share a classifier, and those that look at the same
// region with it share an inference.
struct OpenWatches {
  std::vector<LoadedModel> models;
  std::vector<ModelInfoPtr> infos;  // of the models
  std::vector<PipelineRegion> regions;
  std::vector<SelectedRegion> selected;  // the same regions
  std::vector<OpenWatch> all;            // at least one

  bool has_names() const { return all.front().info != nullptr; }
  // As PipelineOptions and run_pipeline() take them.
  std::vector<PipelineWatch> pipeline_watches() const;
};

// Loads each model once, by `load`.
OpenWatches open_watches(const RunOptions& options,
                         const std::function<LoadedModel(const ModelOptions&)>& load);

// How the source is opened for all of them.
SourceOptions source_options(const OpenWatches& watches);

}  // namespace lookout

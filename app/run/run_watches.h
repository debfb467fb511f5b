// The models and regions of what a run watches.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app/model/models.h"
#include "app/options/watches.h"
#include "pipeline/run/plan.h"

namespace lookout {

// A model that is ready to classify.
struct OpenModel {
  std::string key;                    // what it was opened from: the same text is the same model
  std::vector<std::string> accepted;  // as ModelOptions::sha256, it is one of them
  std::vector<std::shared_ptr<Classifier>> classifiers;  // a copy for each worker
  ModelInfoPtr info;
  std::shared_ptr<const void> base;  // as LoadedModel
};

// A watch and what is open of it.
struct OpenWatch {
  Watch watch;
  WatchInfoPtr info;       // null: it has no name
  std::size_t region = 0;  // of OpenWatches
};

// Watches of the same model file and labels share a classifier, and those that look at the same
// region with it share an inference.
struct OpenWatches {
  std::vector<OpenModel> models;
  std::vector<PipelineRegion> regions;
  std::vector<OpenWatch> all;  // at least one
};

// Loads each model once, by `load`, unless it is one of `before` whose files are as they were; that
// one is read again to see whether it is accepted, where that has changed. A taught watch whose
// model cannot be loaded is left out, and the log says why; without any watch left, the options are
// taken as if they named none.
OpenWatches open_watches(const RunOptions& options,
                         const std::function<LoadedModel(const ModelOptions&)>& load,
                         const std::vector<OpenModel>& before = {});

// What the run does with them. `live`: the source.
Plan make_plan(const RunOptions& options, const OpenWatches& watches, bool live);

// How the source is opened for all of them.
SourceOptions source_options(const OpenWatches& watches);

}  // namespace lookout

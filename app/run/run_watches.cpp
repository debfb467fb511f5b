#include "app/run/run_watches.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "app/model/model_facts.h"
#include "app/options/resolved_run.h"
#include "app/report/json.h"

namespace lookout {
namespace {

ModelInfoPtr describe(const LoadedModel& loaded) {
  const Classifier& classifier = *loaded.classifiers.front();
  ModelInfo info = model_info(classifier.spec());
  info.archive = to_text(archive_facts(classifier.spec(), classifier.facts()));
  info.sha256 = loaded.sha256;
  return std::make_shared<ModelInfo>(std::move(info));
}

// The index in `all` of what equals `wanted`, which is added if there is none.
template <typename Key>
std::size_t index_of(const Key& wanted, std::vector<Key>& all) {
  const auto found = std::find(all.begin(), all.end(), wanted);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(wanted);
  return all.size() - 1;
}

}  // namespace

OpenWatches open_watches(const RunOptions& options,
                         const std::function<LoadedModel(const ModelOptions&)>& load) {
  OpenWatches open;
  std::vector<std::pair<std::string, std::string>> files;      // of models, with their labels
  std::vector<std::pair<std::size_t, cv::Rect2d>> rectangles;  // of regions, with their models
  for (Watch& watch : watches_of(options)) {
    const ModelOptions& model = watch.options.model;
    const std::size_t file = index_of({model.file, model.labels}, files);
    if (file == open.models.size()) {
      open.models.push_back(load(model));
      open.infos.push_back(describe(open.models.back()));
    }
    const View& view = watch.options.camera.view;
    const auto every = watch.options.still.at_least_every;
    Classifier& classifier = *open.models[file].classifiers.front();
    const std::size_t region = index_of({file, view.roi}, rectangles);
    if (region == open.regions.size()) {
      open.regions.push_back({&classifier, open.infos[file], view});
      open.selected.push_back({view, classifier.spec().input, every});
    }
    auto& at_least_every = open.selected[region].at_least_every;
    at_least_every = std::min(at_least_every, every);
    WatchInfoPtr info;
    if (!watch.name.empty()) {
      info = std::make_shared<WatchInfo>(WatchInfo{watch.name, view.roi, watch.title});
    }
    open.all.push_back({std::move(watch), std::move(info), region});
  }
  return open;
}

std::vector<PipelineWatch> OpenWatches::pipeline_watches() const {
  std::vector<PipelineWatch> watches;
  for (const OpenWatch& watch : all) {
    watches.push_back({watch.info, watch.region, state_options(watch.watch.options)});
  }
  return watches;
}

SourceOptions source_options(const OpenWatches& watches) {
  std::vector<SourceOptions> wishes;
  for (const OpenWatch& watch : watches.all) {
    const InputSpec& input = watches.selected[watch.region].input;
    wishes.push_back(source_options(watch.watch.options.camera, input));
  }
  return largest(wishes);
}

}  // namespace lookout

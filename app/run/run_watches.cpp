#include "app/run/run_watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/options/resolved_run.h"
#include "app/report/json.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"

namespace lookout {
namespace {

// The same for a.pt and ./a.pt. A link is not followed: a model is installed under a name.
std::filesystem::path place_of(const std::filesystem::path& file) {
  std::error_code missing;
  const auto folder =
      std::filesystem::canonical(std::filesystem::absolute(file).parent_path(), missing);
  return missing ? file : folder / file.filename();
}

// Changes when the file is replaced; empty for none.
std::string mark_of(const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  const auto time = std::filesystem::last_write_time(file, missing).time_since_epoch().count();
  return fmt::format("{}|{}|{}", place_of(file).string(), missing ? 0 : size, time);
}

// The same text is the same model.
std::string key_of(const ModelOptions& options) {
  const StatedModel& stated = options.stated;
  std::string key;
  for (const std::filesystem::path& file : files_of_model(options)) key += mark_of(file) + "\n";
  if (stated.size) key += fmt::format("\n{}x{}", stated.size->width, stated.size->height);
  if (stated.channels) key += fmt::format("\nchannels {}", static_cast<int>(*stated.channels));
  if (stated.output) key += fmt::format("\noutput {}", to_text(*stated.output));
  const Normalisation& normalisation = stated.normalisation;
  if (normalisation.scale) key += fmt::format("\nscale {}", static_cast<int>(*normalisation.scale));
  for (const auto& values : {normalisation.mean, normalisation.std}) {
    if (values) key += fmt::format("\n{},{},{}", (*values)[0], (*values)[1], (*values)[2]);
  }
  return key;
}

OpenModel open_model_of(LoadedModel loaded) {
  const Classifier& classifier = *loaded.classifiers.front();
  ModelInfo info = model_info(classifier.spec());
  Json facts = archive_facts(classifier.spec(), classifier.facts());
  if (!loaded.instead_of.empty()) facts["instead_of"] = loaded.instead_of;
  info.archive = to_text(facts);
  info.sha256 = loaded.sha256;
  info.failed = loaded.failed;
  OpenModel model;
  model.base = std::move(loaded.base);
  for (auto& copy : loaded.classifiers) model.classifiers.push_back(std::move(copy));
  model.info = std::make_shared<ModelInfo>(std::move(info));
  return model;
}

OpenModel open_or_share(const ModelOptions& model, const std::string& key,
                        const std::function<LoadedModel(const ModelOptions&)>& load,
                        const std::vector<OpenModel>& before) {
  const auto known = std::find_if(before.begin(), before.end(),
                                  [&key](const OpenModel& one) { return one.key == key; });
  OpenModel open = known == before.end() ? open_model_of(load(model)) : *known;
  if (known != before.end() && known->accepted != model.sha256) read_archive(model);
  open.key = key;
  open.accepted = model.sha256;
  return open;
}

bool reuses_results(const StillOptions& options, bool live) {
  return options.enabled == Still::kYes || (options.enabled == Still::kAuto && live);
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
                         const std::function<LoadedModel(const ModelOptions&)>& load,
                         const std::vector<OpenModel>& before) {
  OpenWatches open;
  std::vector<std::string> keys;                               // of models
  std::vector<std::pair<std::size_t, cv::Rect2d>> rectangles;  // of regions, with their models
  for (Watch& watch : watches_of(options)) {
    const ModelOptions& model = watch.options.model;
    const std::string key = key_of(model);
    const std::size_t of_model = index_of(key, keys);
    if (of_model == open.models.size()) {
      try {
        open.models.push_back(open_or_share(model, key, load, before));
      } catch (const Error& error) {
        if (!watch.taught) throw;
        log_warn("the taught watch {} is left out: {}", watch.name, error.what());
        keys.pop_back();
        continue;
      }
    }
    const View& view = watch.options.camera.view;
    const auto every = watch.options.still.at_least_every;
    const OpenModel& opened = open.models[of_model];
    const std::size_t region = index_of({of_model, view.roi}, rectangles);
    if (region == open.regions.size()) {
      open.regions.push_back({opened.classifiers, opened.info, view, every, opened.base});
    }
    auto& at_least_every = open.regions[region].at_least_every;
    at_least_every = std::min(at_least_every, every);
    WatchInfoPtr info;
    if (!watch.name.empty()) {
      info =
          std::make_shared<WatchInfo>(WatchInfo{watch.name, view.roi, watch.title, watch.taught});
    }
    open.all.push_back({std::move(watch), std::move(info), region});
  }
  if (!open.all.empty()) return open;
  RunOptions without_watches = options;
  without_watches.watches.clear();
  return open_watches(without_watches, load, before);
}

Plan make_plan(const RunOptions& options, const OpenWatches& watches, bool live) {
  Plan plan;
  plan.regions = watches.regions;
  for (const OpenWatch& watch : watches.all) {
    plan.watches.push_back({watch.info, watch.region, state_options(watch.watch.options)});
  }
  plan.top_k = options.results.top_k;
  plan.threshold = static_cast<float>(options.results.threshold);
  plan.selection.still = reuses_results(options.still, live);
  plan.selection.ignored = options.still.ignore;
  plan.selection.max_rate = options.camera.max_rate;
  plan.heat_limit = options.heat.limit;
  return plan;
}

SourceOptions source_options(const OpenWatches& watches) {
  std::vector<SourceOptions> wishes;
  for (const OpenWatch& watch : watches.all) {
    const auto& classifiers = watches.regions[watch.region].classifiers;
    const InputSpec& input = classifiers.front()->spec().input;
    wishes.push_back(source_options(watch.watch.options.camera, input));
  }
  return largest(wishes);
}

}  // namespace lookout

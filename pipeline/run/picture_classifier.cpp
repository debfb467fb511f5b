#include "pipeline/run/picture_classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/state_tracker.h"
#include "pipeline/run/plan.h"

namespace lookout {
namespace {

constexpr std::size_t kShownBytes = 64;  // of a name that a client sent

FrameClassifier classifier_of_pictures(const Plan& plan, const PipelineRegion& region,
                                       std::size_t number, const cv::Rect2d& roi) {
  View view;
  view.roi = roi;
  return {*region.classifiers.at(number), region.model, view, plan.top_k, plan.threshold};
}

// The state of a watch that sees this for long.
SceneState lasting_state(const PipelineWatch& watch, const ClassifiedFrame& classified) {
  StateOptions options = watch.state;
  options.smoothing = options.min_duration = {};
  StateTracker tracker(options);
  tracker.update(classified.scores, classified.result.model, Clock::now());
  return tracker.state();
}

}  // namespace

const Watching* watch_called(const WatchList& watches, const std::string& name) {
  const auto found = std::find_if(watches.begin(), watches.end(), [&name](const Watching& each) {
    return each.watch && each.watch->name == name;
  });
  return found == watches.end() ? nullptr : &*found;
}

std::string names_of_watches(const WatchList& watches) {
  std::vector<std::string> names;
  for (const Watching& each : watches) {
    if (each.watch) names.push_back(each.watch->name);
  }
  return joined(names, ", ");
}

std::string no_watch_text(const WatchList& watches, const std::string& name) {
  const std::string names = names_of_watches(watches);
  return fmt::format(
      "there is no watch '{}': {}", printable(name.substr(0, kShownBytes)),
      names.empty() ? "nothing that is watched has a name" : "the watches are " + names);
}

PictureClassifier::PictureClassifier(PlanPtr plan, std::size_t number)
    : plan_(std::move(plan)),
      whole_(classifier_of_pictures(*plan_, plan_->regions.front(), number, View{}.roi)) {
  regions_.reserve(plan_->regions.size());
  for (const PipelineRegion& region : plan_->regions) {
    regions_.push_back(classifier_of_pictures(*plan_, region, number, region.view.roi));
  }
}

void PictureClassifier::classify(const std::string& watch, ClassifiedFrame& classified) {
  if (watch.empty()) {
    whole_.classify(classified);
    return;
  }
  const auto& watches = plan_->watches;
  const auto found = std::find_if(
      watches.begin(), watches.end(),
      [&watch](const PipelineWatch& each) { return each.info && each.info->name == watch; });
  if (found == watches.end()) throw NoSuchWatch(no_watch_text(watch_list(*plan_), watch));
  regions_[found->region].classify(classified);
  classified.result.watch = found->info;
  classified.result.state = lasting_state(*found, classified);
}

}  // namespace lookout

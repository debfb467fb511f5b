#include "pipeline/run/plan_slot.h"

#include <utility>
#include <vector>

namespace lookout {

struct PlanSlot::Retired {
  std::function<void()> on_retired;
  Mutex mutex;
  std::vector<std::unique_ptr<const Plan>> plans GUARDED_BY(mutex);

  void put(const Plan* plan) {
    {
      const MutexLock lock(mutex);
      plans.emplace_back(plan);
    }
    if (on_retired) on_retired();
  }
};

PlanSlot::PlanSlot(Plan first, std::function<void()> on_retired)
    : retired_(std::make_shared<Retired>()) {
  retired_->on_retired = std::move(on_retired);
  current_ = share(std::move(first));
}

PlanPtr PlanSlot::share(Plan plan) const {
  return {new Plan(std::move(plan)),
          [retired = retired_](const Plan* unused) { retired->put(unused); }};
}

void PlanSlot::offer(Plan plan) {
  PlanPtr offered = share(std::move(plan));  // holds the one before when the lock is given back
  const MutexLock lock(mutex_);
  std::swap(offered_, offered);
}

bool PlanSlot::take(PlanPtr& plan) {
  PlanPtr before;  // is given back without the lock
  const MutexLock lock(mutex_);
  const bool is_new = offered_ != nullptr;
  if (is_new) before = std::exchange(current_, std::exchange(offered_, nullptr));
  if (plan != current_) {
    if (!before) before = plan;
    plan = current_;
  }
  return is_new;
}

PlanPtr PlanSlot::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

void PlanSlot::free_retired() {
  std::vector<std::unique_ptr<const Plan>> plans;
  const MutexLock lock(retired_->mutex);
  std::swap(plans, retired_->plans);
}

std::vector<SelectedRegion> selected_regions(const Plan& plan) {
  std::vector<SelectedRegion> selected;
  selected.reserve(plan.regions.size());
  for (const PipelineRegion& region : plan.regions) {
    selected.push_back({region.view, region.classifiers.front()->spec().input,
                        region.at_least_every, region.base.get()});
  }
  // Smoothing averages frames.
  for (const PipelineWatch& watch : plan.watches) {
    if (watch.state.smoothing.count() > 0) {
      selected[watch.region].samples = StateTracker::kSamples;
    }
  }
  return selected;
}

WatchList watch_list(const Plan& plan) {
  WatchList list;
  list.reserve(plan.watches.size());
  for (const PipelineWatch& watch : plan.watches) {
    list.push_back({watch.info, plan.regions[watch.region].model});
  }
  return list;
}

}  // namespace lookout

#include "pipeline/run/thread_plan.h"

#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/model/network_output.h"
#include "pipeline/profile/trace.h"

namespace lookout {

TakeStatus take_chosen(const FrameFeed& feed, std::chrono::milliseconds timeout, PlanPtr& plan,
                       Frame& frame, ClassifiedRegion& first) {
  FrameSelector* const selector = feed.selector;
  Trace* const trace = feed.trace;
  if (feed.plans.take(plan) && selector != nullptr) {
    selector->use(plan->selection, selected_regions(*plan));
  }
  const TakeStatus status = feed.frames.take(frame, timeout);
  if (status != TakeStatus::kTaken) return status;
  const bool traced = trace != nullptr && trace->traces(frame.sequence);
  const StageMark start = mark_now(traced);
  if (traced) trace->record(Stage::kQueueWait, frame.sequence, frame.queued, start.time);
  const RegionUse use =
      selector == nullptr ? RegionUse{FrameUse::kClassify} : selector->choose(frame);
  if (use.use == FrameUse::kUnwanted) return TakeStatus::kTimeout;
  const StageMark chosen = mark_now(traced);
  if (traced && selector != nullptr) {
    trace->record(Stage::kCompare, frame.sequence, start, chosen);
  }
  begin_result(use, frame, first);
  if (first.result.reused) first.result.durations.total += chosen.time - start.time;
  return status;
}

void ThreadPlan::use(const PlanPtr& plan) {
  if (plan == plan_) return;
  regions_.clear();
  regions_.reserve(plan->regions.size());
  for (const PipelineRegion& region : plan->regions) {
    regions_.emplace_back(*region.classifiers.at(number_), region.model, region.view, plan->top_k,
                          plan->threshold);
  }
  if (pictures_ != nullptr) of_pictures_.emplace(plan, number_);
  plan_ = plan;
  told_of_no_scores_ = false;
}

void ThreadPlan::classify(Frame& frame, ClassifiedRegion& classified, Trace* trace) {
  try {
    regions_[classified.region].classify(frame, classified, trace);
  } catch (const NoScores& error) {
    if (!std::exchange(told_of_no_scores_, true)) {
      log_warn("{}; what such a frame shows is unknown", error.what());
    }
  }
}

}  // namespace lookout

// The plan of a run, which another one may replace between two frames.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/core/mutex.h"
#include "pipeline/run/plan.h"

namespace lookout {

// Any thread offers plans. Those who classify never free one, since to free a model takes tens of
// milliseconds: a plan that nobody uses any more waits for free_retired().
class PlanSlot {
 public:
  // `on_retired` is called when a plan waits for free_retired(), by the thread that used it last,
  // until the slot and all that it gave are gone. Empty: nobody is told.
  explicit PlanSlot(Plan first, std::function<void()> on_retired = {});

  // The plan from the next frame on. Its regions have as many classifiers as those of the first
  // plan, which are warm; nobody else uses its reporters. One that was offered before and not taken
  // yet is retired. Any thread.
  void offer(Plan plan) EXCLUDES(mutex_);

  // Makes `plan` the one for the next frame: the last that was offered. Returns whether it is
  // another one than at the call before. Called by one thread at a time, which takes the frames.
  bool take(PlanPtr& plan) EXCLUDES(mutex_);

  // The plan that was taken last; the first if none was. Any thread.
  PlanPtr current() const EXCLUDES(mutex_);

  // Frees the plans that nobody uses any more, on this thread. Any thread.
  void free_retired();

 private:
  struct Retired;

  PlanPtr share(Plan plan) const;

  const std::shared_ptr<Retired> retired_;
  mutable Mutex mutex_;
  PlanPtr current_ GUARDED_BY(mutex_);
  PlanPtr offered_ GUARDED_BY(mutex_);  // null: none that is not taken yet
};

}  // namespace lookout

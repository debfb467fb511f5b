// What one of the threads that classify does with the run's plan.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "pipeline/core/latest.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/picture_classifier.h"
#include "pipeline/run/picture_queue.h"
#include "pipeline/run/plan_slot.h"

namespace lookout {

// Where those who classify have frames and plans from. All outlive it.
struct FrameFeed {
  Latest<Frame>& frames;
  PlanSlot& plans;
  FrameSelector* selector;  // null: every frame is to be classified
  Trace* trace;             // records the stages; null: none
  bool live = false;        // the source
};

// As frames.take(). Fills in `frame` and begins the result of its first region in `first`. A frame
// that is not wanted is a kTimeout. Whatever is returned, `plan` becomes the one to classify with.
// The selector sees the frames in their order: one thread calls this at a time.
TakeStatus take_chosen(const FrameFeed& feed, std::chrono::milliseconds timeout, PlanPtr& plan,
                       Frame& frame, ClassifiedRegion& first);

// Used by one thread at a time.
class ThreadPlan {
 public:
  // Computes with the classifiers `number` of each plan. `pictures` outlives this; null: none.
  ThreadPlan(std::size_t number, const PictureQueue* pictures)
      : number_(number), pictures_(pictures) {}

  // Of this plan from now on. The one before is given back.
  void use(const PlanPtr& plan);

  // The rest needs a plan.

  std::size_t regions() const { return regions_.size(); }
  // Of `classified.region`. A frame for which the model gives no scores has none, and no
  // predictions: the first one of a plan is logged.
  void classify(Frame& frame, ClassifiedRegion& classified, Trace* trace);
  // Of pictures in the queue. Not if there is no queue.
  PictureClassifier& pictures() { return *of_pictures_; }

 private:
  const std::size_t number_;
  const PictureQueue* const pictures_;
  PlanPtr plan_;
  std::vector<FrameClassifier> regions_;
  std::optional<PictureClassifier> of_pictures_;
  bool told_of_no_scores_ = false;
};

}  // namespace lookout

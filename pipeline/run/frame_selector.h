// Which frames are classified: those that show something new, and no more than are wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <optional>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/latest.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/still_hint.h"
#include "pipeline/model/frozen_watch.h"
#include "pipeline/model/luma_grid.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/model/still_detector.h"
#include "pipeline/run/classification_rate.h"
#include "pipeline/run/frame_classifier.h"

namespace lookout {

struct SelectionOptions {
  bool still = false;                              // reuse results while nothing moves
  std::chrono::milliseconds at_least_every{1000};  // a frame is classified, whatever it shows
  std::vector<cv::Rect2d> ignored;                 // as View::roi: what moves there is no change
  std::optional<double> max_rate;                  // classifications a second; empty: any
};

enum class FrameUse {
  kClassify,
  kReuse,     // shows what the last classified frame showed: the result is that one's
  kUnwanted,  // came sooner than the rate allows: there is no result
};

// Used by several threads at a time, but for what says otherwise.
class FrameSelector : public StillHint {
 public:
  FrameSelector(const SelectionOptions& options, const View& view, const InputSpec& spec);

  // Whether results are reused: known once the source is open.
  void set_still(bool still);
  // From now on at most so many classifications a second, and max_rate; empty: max_rate alone.
  void limit_rate(std::optional<double> rate);

  // To be called for each frame in order, before it is classified, by one thread at a time. A frame
  // to classify is what those that follow are compared with.
  FrameUse choose(Frame& frame);

  // Frames from number `sequence` on are not compared with those before: the camera was away.
  void forget_from(std::uint64_t sequence);

  // See FrozenWatch.
  bool take_frozen() override;

  // How many frames were kUnwanted.
  std::uint64_t unwanted() const;

  // What choose() will probably find. By one thread at a time.
  bool looks_still(const cv::Mat& picture, const cv::Size& frame, LumaBlocks& blocks) override;
  bool looks_unwanted(Clock::time_point captured) override;

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void measure(Frame& frame);
  bool is_due(Clock::time_point time) const REQUIRES(mutex_);

  const std::chrono::milliseconds at_least_every_;
  const std::optional<double> max_rate_;
  LumaGrid grid_;         // of choose()
  LumaGrid source_grid_;  // of looks_still()

  mutable Mutex mutex_;
  bool still_ GUARDED_BY(mutex_);
  StillDetector detector_ GUARDED_BY(mutex_);
  FrozenWatch frozen_watch_ GUARDED_BY(mutex_);
  bool frozen_ GUARDED_BY(mutex_) = false;
  ClassificationRate rate_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> classified_ GUARDED_BY(mutex_);  // the time of the last one
  std::uint64_t forget_from_ GUARDED_BY(mutex_) = kNever;
  std::uint64_t unwanted_ GUARDED_BY(mutex_) = 0;
};

// As frames.take(). Fills in `classified.frame`, and whether its result is reused; such a result
// has all that FrameClassifier gives but predictions. A frame that is not wanted is a kTimeout.
// `selector` (null: every frame is to be classified) sees the frames in their order: one thread
// calls this at a time. `trace` records the stages; null: none.
TakeStatus take_chosen(Latest<Frame>& frames, std::chrono::milliseconds timeout,
                       FrameSelector* selector, Trace* trace, ClassifiedFrame& classified);

}  // namespace lookout

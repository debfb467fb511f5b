// Which frames are classified: those that show something new, and no more than are wanted. If
// several regions of the picture are, it chooses among these.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <optional>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/frame_hint.h"
#include "pipeline/core/mutex.h"
#include "pipeline/model/frozen_watch.h"
#include "pipeline/model/luma_grid.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/model/still_detector.h"
#include "pipeline/run/frame_classifier.h"
#include "pipeline/run/watch_scheduler.h"

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

// A part of the picture that is classified.
struct SelectedRegion {
  View view;
  InputSpec input;                           // of its model
  std::chrono::milliseconds at_least_every;  // it is classified, whatever it shows
  // Regions with the same one and the same `roi` share an inference; null: this one does not.
  const void* base = nullptr;
  // So many frames are classified after each change, before a result is reused. With more than one,
  // all are, until settle() says that its state would be the same with other noise.
  std::size_t samples = 1;
};

// What becomes of a region of a frame.
struct RegionUse {
  FrameUse use = FrameUse::kUnwanted;  // kUnwanted: of the frame as a whole
  std::size_t region = 0;
};

// Used by several threads at a time, but for what says otherwise.
class FrameSelector : public FrameHint {
 public:
  // The whole view, as one region.
  FrameSelector(const SelectionOptions& options, const View& view, const InputSpec& spec);
  // At least one region; `options.at_least_every` is not used.
  FrameSelector(const SelectionOptions& options, const std::vector<SelectedRegion>& regions);

  // Whether results are reused: known once the source is open.
  void set_still(bool still);
  // From now on at most so many classifications a second, and max_rate; empty: max_rate alone.
  void limit_rate(std::optional<double> rate);

  // From now on other regions are classified: what was classified before is not reused. Not used:
  // `options.at_least_every`. By the thread that calls choose(), between two frames.
  void use(const SelectionOptions& options, const std::vector<SelectedRegion>& regions);

  // To be called for each frame in order, before it is classified, by one thread at a time. Returns
  // the first of its regions that has a result. A region to classify is what those of the frames
  // that follow are compared with.
  RegionUse choose(Frame& frame);

  // The next region of this frame that has a result; nothing: there is none. This and what follows
  // is called by one thread at a time, and not beside choose().
  std::optional<RegionUse> next(const Frame& frame);

  // Whether next() has one.
  bool has_next() const;

  // Whether next() has one that shares the inference of the region before.
  bool next_shares() const;

  // Whether several regions of the frame that choose() was called for last are to be classified.
  bool classifies_several() const;

  // There is a newer frame: what was left is compared with that, but for regions that share the
  // inference of the one before. They cost next to nothing.
  void leave_rest();

  // Whether results of a region with several `samples` may be reused. A region of an older plan
  // does no harm: the next result corrects it.
  void settle(std::size_t region, bool settled);

  // Frames from number `sequence` on are not compared with those before: the camera was away.
  void forget_from(std::uint64_t sequence);

  // See FrozenWatch.
  bool take_frozen() override;

  // How many frames were kUnwanted.
  std::uint64_t unwanted() const;

  cv::Size least_size() override;

  // What choose() will probably find. By one thread at a time.
  bool looks_still(const cv::Mat& picture, const cv::Size& frame,
                   std::vector<LumaBlocks>& blocks) override;
  bool looks_unwanted(Clock::time_point captured) override;

 private:
  // What is known of the state of a region with several samples.
  struct Evidence {
    std::size_t needed = 1;   // SelectedRegion::samples
    std::size_t samples = 0;  // since the last change
    bool settled = true;

    bool is_enough() const { return needed <= 1 || (settled && samples >= needed); }
  };

  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  // Frames between source and choose() when the source has new grids: the one that waits.
  static constexpr int kOldBlocks = 1;

  static std::vector<Evidence> evidence_for(const std::vector<SelectedRegion>& regions);
  // Whether the source may have measured the blocks for other regions. Called once a frame.
  bool has_old_blocks() EXCLUDES(mutex_);
  std::optional<double> allowed_rate() const REQUIRES(mutex_);
  void measure(Frame& frame);
  void plan(const LumaBlocks* blocks, Clock::time_point time) REQUIRES(mutex_);
  bool shares(std::size_t planned) const REQUIRES(mutex_);
  RegionUse take_planned(const Frame& frame) REQUIRES(mutex_);

  // One for each region.
  std::vector<LumaGrid> grids_;         // of choose()
  std::vector<LumaGrid> source_grids_;  // of looks_still()

  mutable Mutex mutex_;
  std::optional<double> max_rate_ GUARDED_BY(mutex_);
  std::optional<double> limited_rate_ GUARDED_BY(mutex_);       // see limit_rate()
  std::vector<LumaGrid> next_source_grids_ GUARDED_BY(mutex_);  // empty: no others
  int old_blocks_ GUARDED_BY(mutex_) = 0;  // frames that may have those of other regions
  bool still_ GUARDED_BY(mutex_);
  cv::Size least_size_ GUARDED_BY(mutex_);
  std::vector<StillDetector> detectors_ GUARDED_BY(mutex_);  // one for each region
  std::vector<Evidence> evidence_ GUARDED_BY(mutex_);        // likewise
  FrozenWatch frozen_watch_ GUARDED_BY(mutex_);
  bool frozen_ GUARDED_BY(mutex_) = false;
  WatchScheduler scheduler_ GUARDED_BY(mutex_);
  // Of each region, the first one that has the same inference.
  std::vector<std::size_t> inferences_ GUARDED_BY(mutex_);
  // What is left of the frame that was chosen from: from planned_[next_] on.
  std::vector<RegionUse> planned_ GUARDED_BY(mutex_);
  std::size_t next_ GUARDED_BY(mutex_) = 0;
  bool compares_ GUARDED_BY(mutex_) = false;  // the frame was compared: it has blocks
  std::vector<std::size_t> due_ GUARDED_BY(mutex_);
  std::uint64_t forget_from_ GUARDED_BY(mutex_) = kNever;
  std::uint64_t unwanted_ GUARDED_BY(mutex_) = 0;
};

// Begins the result of a region that is not kUnwanted. A reused one has all that FrameClassifier
// gives but predictions.
void begin_result(const RegionUse& use, const Frame& frame, ClassifiedRegion& classified);

}  // namespace lookout

#include "pipeline/run/frame_selector.h"

#include <algorithm>
#include <utility>

#include "pipeline/profile/trace.h"

namespace lookout {

FrameSelector::FrameSelector(const SelectionOptions& options, const View& view,
                             const InputSpec& spec)
    : at_least_every_(options.at_least_every),
      max_rate_(options.max_rate),
      grid_(view, spec, options.ignored),
      source_grid_(view, spec, options.ignored),
      still_(options.still),
      rate_(options.max_rate) {}

void FrameSelector::set_still(bool still) {
  const MutexLock lock(mutex_);
  still_ = still;
}

void FrameSelector::limit_rate(std::optional<double> rate) {
  if (max_rate_) rate = std::min(rate.value_or(*max_rate_), *max_rate_);
  const MutexLock lock(mutex_);
  rate_.set(rate);
}

FrameUse FrameSelector::choose(Frame& frame) {
  const Clock::time_point time = time_of(frame);
  {
    const MutexLock lock(mutex_);
    if (frame.sequence >= forget_from_) {
      detector_.forget();
      frozen_watch_.forget();
      classified_.reset();
      forget_from_ = kNever;
    }
    if (!rate_.wanted(time.time_since_epoch())) {
      ++unwanted_;
      return FrameUse::kUnwanted;
    }
    if (!still_) return FrameUse::kClassify;
  }
  measure(frame);
  const LumaBlocks& blocks = frame.picture.blocks;
  const MutexLock lock(mutex_);
  frozen_ = frozen_ || frozen_watch_.is_frozen(frame, blocks);
  // In this order: the detector measures the noise of each frame.
  if (detector_.is_still(blocks) && !is_due(time)) return FrameUse::kReuse;
  detector_.classified(blocks);
  classified_ = time;
  return FrameUse::kClassify;
}

bool FrameSelector::is_due(Clock::time_point time) const {
  return !classified_ || time < *classified_ || time - *classified_ >= at_least_every_;
}

void FrameSelector::measure(Frame& frame) {
  CameraPicture& picture = frame.picture;
  switch (picture.kind) {
    case CameraPicture::Kind::kRaw:
      grid_.measure(picture.raw(), picture.blocks);
      return;
    case CameraPicture::Kind::kJpeg:
      if (!picture.has_blocks) {
        const cv::Mat& pixels = whole_picture(frame);
        grid_.measure(pixels, pixels.size(), picture.blocks);
      }
      return;
    case CameraPicture::Kind::kNone:
      grid_.measure(frame.bgr, frame.bgr.size(), picture.blocks);
      return;
  }
}

void FrameSelector::forget_from(std::uint64_t sequence) {
  const MutexLock lock(mutex_);
  forget_from_ = sequence;
}

bool FrameSelector::take_frozen() {
  const MutexLock lock(mutex_);
  return std::exchange(frozen_, false);
}

std::uint64_t FrameSelector::unwanted() const {
  const MutexLock lock(mutex_);
  return unwanted_;
}

bool FrameSelector::looks_still(const cv::Mat& picture, const cv::Size& frame, LumaBlocks& blocks) {
  source_grid_.measure(picture, frame, blocks);
  const MutexLock lock(mutex_);
  return still_ && detector_.looks_still(blocks);
}

bool FrameSelector::looks_unwanted(Clock::time_point captured) {
  const MutexLock lock(mutex_);
  ClassificationRate ahead = rate_;  // which is not to count this frame yet
  return !ahead.wanted(captured.time_since_epoch());
}

TakeStatus take_chosen(Latest<Frame>& frames, std::chrono::milliseconds timeout,
                       FrameSelector* selector, Trace* trace, ClassifiedFrame& classified) {
  Frame& frame = classified.frame;
  Result& result = classified.result;
  const TakeStatus status = frames.take(frame, timeout);
  if (status != TakeStatus::kTaken) return status;
  const bool traced = trace != nullptr && trace->traces(frame.sequence);
  const StageMark start = mark_now(traced);
  if (traced) trace->record(Stage::kQueueWait, frame.sequence, frame.queued, start.time);
  const FrameUse use = selector == nullptr ? FrameUse::kClassify : selector->choose(frame);
  if (use == FrameUse::kUnwanted) return TakeStatus::kTimeout;
  const StageMark chosen = mark_now(traced);
  if (traced && selector != nullptr) {
    trace->record(Stage::kCompare, frame.sequence, start, chosen);
  }
  result.reused = use == FrameUse::kReuse;
  if (!result.reused) return status;
  result.sequence = frame.sequence;
  result.durations = {};
  result.durations.capture = frame.capture_duration;
  result.durations.total = frame.capture_duration + (chosen.time - start.time);
  return status;
}

}  // namespace lookout

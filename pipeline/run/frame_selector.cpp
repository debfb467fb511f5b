#include "pipeline/run/frame_selector.h"

#include <algorithm>
#include <utility>

namespace lookout {
namespace {

std::vector<std::chrono::milliseconds> times_of(const std::vector<SelectedRegion>& regions) {
  std::vector<std::chrono::milliseconds> times;
  times.reserve(regions.size());
  for (const SelectedRegion& region : regions) times.push_back(region.at_least_every);
  return times;
}

std::vector<LumaGrid> grids_of(const std::vector<SelectedRegion>& regions,
                               const std::vector<cv::Rect2d>& ignored) {
  std::vector<LumaGrid> grids;
  grids.reserve(regions.size());
  for (const SelectedRegion& region : regions) {
    grids.emplace_back(region.view, region.input, ignored);
  }
  return grids;
}

std::vector<std::size_t> inferences_of(const std::vector<SelectedRegion>& regions) {
  std::vector<std::size_t> inferences;
  inferences.reserve(regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::size_t first = 0;
    while (first < i && (regions[first].base == nullptr || regions[first].base != regions[i].base ||
                         regions[first].view.roi != regions[i].view.roi)) {
      ++first;
    }
    inferences.push_back(first);
  }
  return inferences;
}

cv::Size least_size_of(const std::vector<SelectedRegion>& regions) {
  cv::Size least;
  for (const SelectedRegion& region : regions) {
    const cv::Size size = reducible_size(region.input, region.view);
    least = {std::max(least.width, size.width), std::max(least.height, size.height)};
  }
  return least;
}

// Regions of `due` that share an inference follow each other: it is kept for the next one alone.
void join_shared(const std::vector<std::size_t>& inferences, std::vector<std::size_t>& due) {
  for (auto last = due.begin(); last != due.end(); ++last) {
    const auto rest = last + 1;
    const auto same = std::find_if(rest, due.end(), [&](std::size_t region) {
      return inferences[region] == inferences[*last];
    });
    if (same != due.end()) std::rotate(rest, same, same + 1);
  }
}

void measure_all(std::vector<LumaGrid>& grids, const cv::Mat& pixels,
                 std::vector<LumaBlocks>& blocks) {
  for (std::size_t i = 0; i < grids.size(); ++i) {
    grids[i].measure(pixels, pixels.size(), blocks[i]);
  }
}

}  // namespace

FrameSelector::FrameSelector(const SelectionOptions& options, const View& view,
                             const InputSpec& spec)
    : FrameSelector(options, std::vector{SelectedRegion{view, spec, options.at_least_every}}) {}

FrameSelector::FrameSelector(const SelectionOptions& options,
                             const std::vector<SelectedRegion>& regions)
    : max_rate_(options.max_rate),
      still_(options.still),
      least_size_(least_size_of(regions)),
      detectors_(regions.size()),
      evidence_(evidence_for(regions)),
      scheduler_(times_of(regions), options.max_rate),
      inferences_(inferences_of(regions)) {
  grids_ = grids_of(regions, options.ignored);
  source_grids_ = grids_;
  planned_.reserve(regions.size());
  due_.reserve(regions.size());
}

std::vector<FrameSelector::Evidence> FrameSelector::evidence_for(
    const std::vector<SelectedRegion>& regions) {
  std::vector<Evidence> evidence(regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) evidence[i].needed = regions[i].samples;
  return evidence;
}

void FrameSelector::use(const SelectionOptions& options,
                        const std::vector<SelectedRegion>& regions) {
  grids_ = grids_of(regions, options.ignored);
  const MutexLock lock(mutex_);
  next_source_grids_ = grids_;
  old_blocks_ = kOldBlocks;
  max_rate_ = options.max_rate;
  still_ = options.still;
  least_size_ = least_size_of(regions);
  detectors_.assign(regions.size(), StillDetector());
  evidence_ = evidence_for(regions);
  frozen_watch_.forget();
  scheduler_ = WatchScheduler(times_of(regions), allowed_rate());
  inferences_ = inferences_of(regions);
  planned_.clear();
  next_ = 0;
  planned_.reserve(regions.size());
  due_.reserve(regions.size());
}

void FrameSelector::set_still(bool still) {
  const MutexLock lock(mutex_);
  still_ = still;
}

void FrameSelector::limit_rate(std::optional<double> rate) {
  const MutexLock lock(mutex_);
  limited_rate_ = rate;
  scheduler_.set_rate(allowed_rate());
}

std::optional<double> FrameSelector::allowed_rate() const {
  if (!max_rate_) return limited_rate_;
  return std::min(limited_rate_.value_or(*max_rate_), *max_rate_);
}

RegionUse FrameSelector::choose(Frame& frame) {
  const Clock::time_point time = time_of(frame);
  {
    const MutexLock lock(mutex_);
    planned_.clear();
    next_ = 0;
    if (frame.sequence >= forget_from_) {
      for (StillDetector& detector : detectors_) detector.forget();
      frozen_watch_.forget();
      scheduler_.forget();
      forget_from_ = kNever;
    }
    if (!scheduler_.wanted(time.time_since_epoch())) {
      ++unwanted_;
      return {};
    }
    if (!still_) {
      plan(nullptr, time);
      return take_planned(frame);
    }
  }
  measure(frame);
  const std::vector<LumaBlocks>& blocks = frame.picture.blocks;
  const MutexLock lock(mutex_);
  frozen_ = frozen_ || frozen_watch_.is_frozen(frame, blocks.front());
  plan(blocks.data(), time);
  return take_planned(frame);
}

// Results that are taken again come first: they take no time. `blocks`: of each region;
// null: nothing is compared.
void FrameSelector::plan(const LumaBlocks* blocks, Clock::time_point time) {
  due_.clear();
  compares_ = blocks != nullptr;
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    // First of all the detector, which measures the noise of each frame.
    const bool is_still = blocks != nullptr && detectors_[i].is_still(blocks[i]);
    if (!is_still) evidence_[i].samples = 0;
    if (is_still && evidence_[i].is_enough() && !scheduler_.is_due(i, time.time_since_epoch())) {
      planned_.push_back({FrameUse::kReuse, i});
    } else {
      due_.push_back(i);
    }
  }
  scheduler_.choose(due_);
  join_shared(inferences_, due_);
  for (const std::size_t region : due_) planned_.push_back({FrameUse::kClassify, region});
}

bool FrameSelector::shares(std::size_t planned) const {
  if (planned == 0 || planned >= planned_.size()) return false;
  const RegionUse& before = planned_[planned - 1];
  const RegionUse& use = planned_[planned];
  return before.use == FrameUse::kClassify && use.use == FrameUse::kClassify &&
         inferences_[before.region] == inferences_[use.region];
}

RegionUse FrameSelector::take_planned(const Frame& frame) {
  const RegionUse use = planned_[next_++];
  if (use.use == FrameUse::kClassify) {
    ++evidence_[use.region].samples;
    if (compares_) detectors_[use.region].classified(frame.picture.blocks[use.region]);
    scheduler_.classified(use.region, time_of(frame).time_since_epoch());
  }
  return use;
}

std::optional<RegionUse> FrameSelector::next(const Frame& frame) {
  const MutexLock lock(mutex_);
  return next_ < planned_.size() ? std::optional(take_planned(frame)) : std::nullopt;
}

bool FrameSelector::has_next() const {
  const MutexLock lock(mutex_);
  return next_ < planned_.size();
}

bool FrameSelector::next_shares() const {
  const MutexLock lock(mutex_);
  return shares(next_);
}

bool FrameSelector::classifies_several() const {
  const MutexLock lock(mutex_);
  const std::size_t count = planned_.size();
  return count > 1 && planned_[count - 2].use == FrameUse::kClassify;
}

void FrameSelector::leave_rest() {
  const MutexLock lock(mutex_);
  std::size_t kept = next_;
  while (shares(kept)) ++kept;
  planned_.resize(kept);
}

bool FrameSelector::has_old_blocks() {
  const MutexLock lock(mutex_);
  if (!next_source_grids_.empty()) return true;
  if (old_blocks_ == 0) return false;
  --old_blocks_;
  return true;
}

void FrameSelector::measure(Frame& frame) {
  CameraPicture& picture = frame.picture;
  picture.blocks.resize(grids_.size());
  switch (picture.kind) {
    case CameraPicture::Kind::kRaw: {
      const RawPicture raw = picture.raw();
      for (std::size_t i = 0; i < grids_.size(); ++i) grids_[i].measure(raw, picture.blocks[i]);
      return;
    }
    case CameraPicture::Kind::kJpeg:
      if (!picture.has_blocks || has_old_blocks()) {
        measure_all(grids_, whole_picture(frame), picture.blocks);
      }
      return;
    case CameraPicture::Kind::kNone:
      measure_all(grids_, frame.bgr, picture.blocks);
      return;
  }
}

void FrameSelector::settle(std::size_t region, bool settled) {
  const MutexLock lock(mutex_);
  if (region < evidence_.size()) evidence_[region].settled = settled;
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

cv::Size FrameSelector::least_size() {
  const MutexLock lock(mutex_);
  return least_size_;
}

bool FrameSelector::looks_still(const cv::Mat& picture, const cv::Size& frame,
                                std::vector<LumaBlocks>& blocks) {
  {
    const MutexLock lock(mutex_);
    if (!still_) {
      blocks.clear();
      return false;
    }
    if (!next_source_grids_.empty()) {
      source_grids_ = std::move(next_source_grids_);
      next_source_grids_.clear();
    }
  }
  blocks.resize(source_grids_.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    source_grids_[i].measure(picture, frame, blocks[i]);
  }
  const MutexLock lock(mutex_);
  if (!still_ || !next_source_grids_.empty()) return false;
  bool all_still = true;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    all_still = detectors_[i].looks_still(blocks[i]) && evidence_[i].is_enough() && all_still;
  }
  return all_still;
}

void begin_result(const RegionUse& use, const Frame& frame, ClassifiedRegion& classified) {
  Result& result = classified.result;
  classified.region = use.region;
  result.reused = use.use == FrameUse::kReuse;
  if (result.reused) begin_result(frame, result);
}

bool FrameSelector::looks_unwanted(Clock::time_point captured) {
  const MutexLock lock(mutex_);
  return !scheduler_.would_want(captured.time_since_epoch());
}

}  // namespace lookout

#include "pipeline/model/still_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lookout {
namespace {

constexpr float kLevel = LumaBlocks::kUnit;

// A block has changed when its difference is beyond so many standard deviations, and so many levels
// more: for what is no noise of a pixel, such as the steps of a JPEG's coefficients.
struct Limit {
  float deviations;
  float levels;
};
constexpr Limit kLittle{4.5F, 1.0F};  // of kFewBlocks
constexpr Limit kMuch{6.0F, 2.0F};    // of one block
constexpr Limit kRow{4.5F, 1.0F};     // of the mean of a row
constexpr int kFewBlocks = 3;

// Noise of a block beyond this is movement: a pixel's standard deviation of 12 makes 2.1 levels
// with blocks of 16 pixels.
constexpr float kMaxNoise = 3 * kLevel;
constexpr float kMaxFlicker = 6 * kLevel;  // from the darkest to the brightest frame
constexpr float kFlickerMargin = 1.25F;    // the smallest of some windows is an underestimate
// What goes to and fro has a way of more than twice its range.
constexpr float kToAndFro = 2.5F;
// Half of a normal distribution is within so many standard deviations.
constexpr float kMedianOfNormal = 0.6745F;
constexpr std::size_t kSampled = 8;  // one block in so many is used for the noise

// How much brighter a row is than it was. Bounded, since a row may be black.
float gain_of(float now, float before) {
  constexpr float kMaxGain = 1.25F;
  return std::clamp(now / std::max(before, kLevel), 1 / kMaxGain, kMaxGain);
}

struct Changed {
  int little = 0;
  int much = 0;
};

// Counts the blocks that differ by more than the limits. Vectorised by the compiler.
void count_changed(const std::uint16_t* now, const std::uint16_t* reference, std::size_t size,
                   float gain, float little, float much, Changed& changed) {
  int littles = 0;
  int muches = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const float difference =
        std::abs(static_cast<float>(now[i]) - gain * static_cast<float>(reference[i]));
    littles += difference > little ? 1 : 0;
    muches += difference > much ? 1 : 0;
  }
  changed.little += littles;
  changed.much += muches;
}

float smallest(const float* windows, std::size_t count) {
  return *std::min_element(windows, windows + count);
}

}  // namespace

void StillDetector::Picture::set(const LumaBlocks& of) {
  blocks = of;
  row_means.resize(of.row_ends.size());
  std::size_t begin = 0;
  for (std::size_t row = 0; row < of.row_ends.size(); ++row) {
    const std::size_t end = of.row_ends[row];
    unsigned sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += of.means[i];
    row_means[row] = static_cast<float>(sum) / static_cast<float>(end - begin);
    begin = end;
  }
}

bool StillDetector::Picture::has_grid_of(const LumaBlocks& other) const {
  return blocks.row_ends == other.row_ends;
}

void StillDetector::forget() {
  before_.set({});
  reference_.set({});
  swings_.clear();
  noise_ = 0;
  noise_sum_ = 0;
  frames_ = 0;
  windows_ = 0;
}

void StillDetector::classified(const LumaBlocks& blocks) { reference_.set(blocks); }

bool StillDetector::is_still(const LumaBlocks& blocks) {
  if (blocks.means.empty()) return false;
  now_.set(blocks);
  if (before_.has_grid_of(blocks)) {
    ++frames_;
    measure_noise(now_);
    measure_flicker(now_);
    if (frames_ == kWindow) end_window();
  } else if (!before_.blocks.means.empty()) {
    forget();
  }
  std::swap(before_, now_);
  return reference_.has_grid_of(blocks) && is_like_reference(before_);
}

bool StillDetector::looks_still(const LumaBlocks& blocks) {
  if (blocks.means.empty()) return false;
  ahead_.set(blocks);
  return reference_.has_grid_of(blocks) && is_like_reference(ahead_);
}

void StillDetector::measure_noise(const Picture& now) {
  differences_.clear();
  std::size_t begin = 0;
  std::size_t next = 0;
  for (std::size_t row = 0; row < now.row_means.size(); ++row) {
    const std::size_t end = now.blocks.row_ends[row];
    const float gain = gain_of(now.row_means[row], before_.row_means[row]);
    for (next = std::max(next, begin); next < end; next += kSampled) {
      differences_.push_back(std::abs(static_cast<float>(now.blocks.means[next]) -
                                      gain * static_cast<float>(before_.blocks.means[next])));
    }
    begin = end;
  }
  const auto middle = differences_.begin() + static_cast<std::ptrdiff_t>(differences_.size() / 2);
  std::nth_element(differences_.begin(), middle, differences_.end());
  noise_sum_ += std::min(*middle / kMedianOfNormal, kMaxNoise);
  // Before the first window is complete, what there is of it.
  if (windows_ == 0) noise_ = noise_sum_ / static_cast<float>(frames_);
}

void StillDetector::measure_flicker(const Picture& now) {
  swings_.resize(now.row_means.size());
  for (std::size_t row = 0; row < swings_.size(); ++row) {
    Swing& swing = swings_[row];
    const float mean = now.row_means[row];
    const float last = before_.row_means[row];
    if (frames_ == 1) {
      swing.low = last;
      swing.high = last;
      swing.way = 0;
    }
    swing.low = std::min(swing.low, mean);
    swing.high = std::max(swing.high, mean);
    swing.way += std::abs(mean - last);
  }
}

void StillDetector::end_window() {
  const std::size_t window = windows_ % kWindows;
  ++windows_;
  const std::size_t complete = std::min(windows_, kWindows);
  noises_[window] = noise_sum_ / static_cast<float>(frames_);
  noise_ = smallest(noises_.data(), complete);
  for (Swing& swing : swings_) {
    const float range = swing.high - swing.low;
    swing.windows[window] = swing.way >= kToAndFro * range ? std::min(range, kMaxFlicker) : 0;
    swing.holds = windows_ < kWindows ? 0 : smallest(swing.windows.data(), kWindows);
  }
  noise_sum_ = 0;
  frames_ = 0;
}

bool StillDetector::is_like_reference(const Picture& now) const {
  const auto limit = [this](const Limit& of) {
    return of.deviations * noise_ + of.levels * kLevel;
  };
  const float little = limit(kLittle);
  const float much = limit(kMuch);
  Changed changed;
  std::size_t begin = 0;
  for (std::size_t row = 0; row < now.row_means.size(); ++row) {
    const std::size_t end = now.blocks.row_ends[row];
    const float mean = now.row_means[row];
    const float before = reference_.row_means[row];
    const float flicker = swings_.empty() ? 0 : kFlickerMargin * swings_[row].holds;
    const float row_noise = noise_ / std::sqrt(static_cast<float>(end - begin));
    const float row_limit = kRow.deviations * row_noise + kRow.levels * kLevel + flicker;
    if (std::abs(mean - before) > row_limit) return false;
    count_changed(now.blocks.means.data() + begin, reference_.blocks.means.data() + begin,
                  end - begin, gain_of(mean, before), little, much, changed);
    begin = end;
  }
  return changed.much == 0 && changed.little < kFewBlocks;
}

}  // namespace lookout

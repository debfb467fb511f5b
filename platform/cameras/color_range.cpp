#include "platform/cameras/color_range.h"

#include <algorithm>

#include "pipeline/core/log.h"

namespace lookout {
namespace {

constexpr int kSamples = 32;           // in each direction
constexpr int kVideoBlack = 16;        // ITU-R BT.601-7, 2.5.3
constexpr int kVideoWhite = 235;       // likewise
constexpr int kOvershoot = 4;          // levels, of sharpening and scaling
constexpr double kManyOutside = 0.01;  // of the pixels

// All pictures are measured at first, later some: a scene without black and white shows nothing.
constexpr std::uint64_t kFirstPictures = 30;
constexpr std::uint64_t kLaterStep = 30;

}  // namespace

std::optional<double> luma_outside(const RawPicture& picture) {
  const int step_x = std::max(1, picture.width / kSamples);
  const int step_y = std::max(1, picture.height / kSamples);
  int filled = 0;
  int outside = 0;
  for (int y = 0; y < picture.height; y += step_y) {
    const SampleLine line = sample_line(picture, y);
    for (int x = 0; x < picture.width; x += step_x) {
      const int luma = line.luma[x * line.luma_step];
      const int pair = x / 2 * line.chroma_step;
      if (luma == 0 && line.u[pair] == 0 && line.v[pair] == 0) continue;
      ++filled;
      if (luma < kVideoBlack - kOvershoot || luma > kVideoWhite + kOvershoot) ++outside;
    }
  }
  if (filled == 0) return std::nullopt;
  return static_cast<double>(outside) / filled;
}

bool RangeMeter::is_full(const RawPicture& picture) {
  const bool is_due = pictures_ < kFirstPictures || pictures_ % kLaterStep == 0;
  ++pictures_;
  if (full_ || !is_due) return full_;
  const auto outside = luma_outside(picture);
  if (!outside) return false;
  full_ = *outside >= kManyOutside;
  if (full_ || !logged_) {
    log_info(
        "camera {} declares no color range: the luma of {:.1f} % of the pixels is outside "
        "16..235, so {}",
        camera_, 100 * *outside,
        full_ ? "the full range, 0..255, is taken"
              : "the limited range is taken, until a picture has many of them");
  }
  logged_ = true;
  return full_;
}

}  // namespace lookout

// Where the overlay's texts are on its canvas.
#pragma once

#include <opencv2/core.hpp>

#include "platform/overlay/overlay_layout.h"

namespace lookout {

inline constexpr int kOverlayLines = 3;  // the title, the rates, the latency

// All of the panel's width.
inline cv::Rect overlay_line(int line) {
  return {kOverlayPictureWidth, 12 + 20 * line, kOverlayWidth - kOverlayPictureWidth, 20};
}

// A label and its score, and below them the bar.
inline cv::Rect overlay_row(int row) {
  return {kOverlayPictureWidth, 84 + 39 * row, kOverlayWidth - kOverlayPictureWidth, 39};
}

}  // namespace lookout

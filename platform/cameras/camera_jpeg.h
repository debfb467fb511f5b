// JPEGs of a camera, and how much of them is decoded while they are read.
#pragma once

#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <optional>

#include "pipeline/core/frame.h"
#include "pipeline/core/frame_hint.h"

namespace lookout {

// The CameraPicture::Decode of JPEGs: false for damage by JpegTolerance::kFrame, and for a side of
// more than 8192 pixels. What is decoded at less than 8/8 costs less for a pixel, too: see
// JpegOptions::eighths.
bool decode_camera_jpeg(const CameraPicture& jpeg, int eighths, cv::Mat& bgr);

// The scale of a frame, 1, 2, 4 or 8 eighths: the smallest that leaves `least` in both directions,
// but twice that below a half. There sharpness goes with the pixels: at 270 lines of 1080, scores
// moved by 1.2 to 1.7 times as much as by other rounding, at 540 lines by no more than that. What
// lies between costs more than the next larger scale: libjpeg has no vector instructions for it.
int eighths_for(const cv::Size& frame, const cv::Size& least);

// Decodes what is needed of each JPEG. Used by one thread at a time.
class JpegReader {
 public:
  // `hint` outlives this; null: there is none, and all pixels are decoded.
  explicit JpegReader(FrameHint* hint) : hint_(hint) {}

  // Of a picture that has been begun and has its bytes, makes the rest: `eighths`; `reduced`,
  // unless the frame looks still; and `blocks`, when a hint compares them. A frame after one that
  // looked still is first decoded at 1/8, luma alone, for the hint to look at, and further only if
  // it looks changed. One that will not be wanted is not decoded at all. Returns the size that the
  // JPEG says it has; nothing when it is damaged.
  std::optional<cv::Size> read(CameraPicture& picture, Clock::time_point captured);

 private:
  bool looks_still(const cv::Mat& decoded, const cv::Size& size, CameraPicture& picture);

  FrameHint* const hint_;
  bool was_still_ = false;  // the frame before
  cv::Mat luma_;
};

}  // namespace lookout

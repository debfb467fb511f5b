// YUV of BT.709, the color space of HD video, to BGR. OpenCV converts BT.601 only.
#pragma once

#include <opencv2/core/mat.hpp>

#include "platform/cameras/raw_picture.h"

namespace lookout {

// Writes `bgr` (CV_8UC3, allocated when its size differs). `picture` is of a subsampled format,
// with even width and height, in the limited or the full range.
void convert_bt709(const RawPicture& picture, cv::Mat& bgr);

}  // namespace lookout

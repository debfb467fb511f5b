// Uncompressed pictures of cameras, converted to BGR. Touches no device.
#pragma once

#include <opencv2/core/mat.hpp>

#include "pipeline/core/frame.h"
#include "pipeline/core/raw_picture.h"

namespace lookout {

// Writes `bgr` (CV_8UC3), which is allocated when its size differs. Pixels that share U and V have
// the same color: nothing is interpolated. Bytes made of YUV differ from the exact value by at most
// 0.52 levels.
void convert_to_bgr(const RawPicture& picture, cv::Mat& bgr);

// Copies the camera's memory into `frame`: as it is when pixels share U and V, otherwise as BGR.
// Allocates when the size grows.
void take_picture(const RawPicture& picture, Frame& frame);

}  // namespace lookout

// Pictures for those who look at a run.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

#include "pipeline/model/preprocessor.h"

namespace lookout {

// Turned and mirrored as `view` says, but not cut. May share its pixels with `bgr`.
cv::Mat turned(const cv::Mat& bgr, const View& view);

// `quality`: 0 to 100.
std::string encode_jpeg(const cv::Mat& bgr, int quality);

}  // namespace lookout

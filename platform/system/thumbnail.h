// Small pictures within a text, such as an HTML page.
#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

namespace lookout {

// The middle square of a picture (CV_8UC3, B G R), `side` pixels wide and high, as a JPEG in a
// `data:` URI. Empty when it cannot be encoded.
std::string thumbnail_uri(const cv::Mat& bgr, int side);

}  // namespace lookout

// JPEGs as cameras send them.
#pragma once

#include <cstddef>
#include <opencv2/core/mat.hpp>

namespace lookout {

// Decodes `length` bytes into `bgr` (CV_8UC3, allocated when its size differs). Returns false, with
// unspecified pixels, when data are missing or visibly wrong, or when a side is longer than 8192
// pixels. Habits of many cameras are no damage: no end marker, no Huffman tables, a few bytes too
// many. Writes nothing to stderr, unlike OpenCV's decoder.
bool decode_jpeg(const unsigned char* data, std::size_t length, cv::Mat& bgr);

}  // namespace lookout

// JPEGs as cameras send them.
#pragma once

#include <cstddef>
#include <opencv2/core/mat.hpp>

namespace lookout {

// Decodes `length` bytes into `bgr`, whose memory is kept when it is a CV_8UC3 of `size` already.
// False, with anything in `bgr`, when the picture is not of `size`, when data are missing or when
// some are wrong as far as that can be seen. What many cameras do is no damage: no end marker, no
// Huffman tables, a few bytes too many. Nothing is written to stderr, where OpenCV's decoder has a
// line for each damaged picture.
bool decode_jpeg(const unsigned char* data, std::size_t length, const cv::Size& size, cv::Mat& bgr);

}  // namespace lookout

// How a camera was held, by the EXIF data of a picture.
#pragma once

#include <cstddef>
#include <opencv2/core/mat.hpp>

namespace lookout {

inline constexpr int kUpright = 1;

// The orientation (1..8, tag 0x0112) in EXIF data: a TIFF header and directory, after "Exif\0\0"
// or, as WebP files have it, without that. kUpright when there is none or it cannot be read.
int exif_orientation(const unsigned char* data, std::size_t size);

// Turns and mirrors a picture of that orientation in place, so that it is upright.
void turn_upright(int orientation, cv::Mat& picture);

}  // namespace lookout

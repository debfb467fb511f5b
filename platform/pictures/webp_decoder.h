// WebP files.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// Decodes a WebP file to the pixels that cv::imread() gives, turned upright. Its size is compared
// with the limits before anything is allocated. Does not poll DecodeLimits::cancelled. May throw
// std::bad_alloc and cv::Exception.
void decode_webp(std::string_view bytes, const DecodeLimits& limits, DecodedPicture& picture);

// The orientation in the EXIF data of a WebP file, which OpenCV does not read; kUpright when it is
// no WebP or has none.
int webp_orientation(std::string_view bytes);

}  // namespace lookout

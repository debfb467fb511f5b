// The formats that OpenCV decodes.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// Decodes a TIFF or BMP file. One whose size picture_size() cannot tell is not decoded, nor
// one beyond the limits. Does not poll DecodeLimits::cancelled while OpenCV decodes. May throw
// std::bad_alloc and cv::Exception.
void decode_with_opencv(std::string_view bytes, const DecodeLimits& limits,
                        DecodedPicture& picture);

}  // namespace lookout

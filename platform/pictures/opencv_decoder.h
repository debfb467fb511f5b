// The formats that OpenCV decodes: TIFF and BMP.
#pragma once

#include <optional>
#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// The size of a TIFF or BMP file by its header, as its decoder finds it: of a TIFF in tiles at
// least that of a tile, which is decoded whole. Empty: it is neither of them, or damaged.
std::optional<PictureSize> picture_size(std::string_view bytes);

// Whether a part of the TIFF cannot be decoded: OpenCV leaves that part black, without a word. May
// throw std::bad_alloc.
bool is_damaged_tiff(std::string_view bytes);

// Decodes a TIFF or BMP file. One whose size picture_size() cannot tell is not decoded, nor
// one beyond the limits. Does not poll DecodeLimits::cancelled while OpenCV decodes. May throw
// std::bad_alloc and cv::Exception.
void decode_with_opencv(std::string_view bytes, const DecodeLimits& limits,
                        DecodedPicture& picture);

}  // namespace lookout

// Decodes a picture's file.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>
#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// Decodes a file that is in memory: JPEG, PNG, WebP, TIFF and BMP, by their first bytes. What the
// decoder finds in the header is compared with the limits before memory for pixels is allocated.
// Opens no file, and writes nothing to stderr. Does not throw. For several threads at a time.
DecodedPicture decode_bytes(std::string_view bytes, const DecodeLimits& limits);

// Decodes the file as decode_bytes() does, or returns why it cannot: the end of a sentence, "is
// truncated: the end of the picture is missing"; empty when there is a picture. One of more than
// `max_pixels` is not decoded. Reads the whole file into memory. Warnings of libjpeg (at level
// warn) and libpng (debug) are logged with `name`. For several threads at a time.
std::string decode_picture(const std::string& name, const std::string& path,
                           std::int64_t max_pixels, cv::Mat& bgr);

}  // namespace lookout

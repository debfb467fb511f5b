// Decodes a picture's file that is in memory. Opens no file, and writes nothing to stderr.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// JPEG, PNG, WebP, TIFF and BMP, by their first bytes. What the decoder finds in the header is
// compared with the limits before memory for pixels is allocated. Does not throw. For several
// threads at a time.
DecodedPicture decode_bytes(std::string_view bytes, const DecodeLimits& limits);

}  // namespace lookout

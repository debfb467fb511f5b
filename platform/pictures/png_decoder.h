// PNGs, decoded to the pixels that cv::imread() gives. OpenCV lets libpng print its messages to
// stderr; here they are returned.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// Decodes `png` into picture.bgr, whose memory is used when its size fits; its content is
// unspecified when there is a problem. Takes memory for the picture only after its header was
// compared with the limits, and none for texts and color profiles. libpng's warnings do not concern
// pixels, but for instance the gamma, which is not used. For several threads at a time.
void decode_png(std::string_view png, const DecodeLimits& limits, DecodedPicture& picture);

}  // namespace lookout

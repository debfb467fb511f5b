// How a camera was held, by the EXIF data of a WebP file, which OpenCV does not read.
#pragma once

#include <string_view>

namespace lookout {

// The orientation of a WebP file as exif_orientation() returns it; kUpright when it is no WebP or
// has none.
int webp_orientation(std::string_view bytes);

}  // namespace lookout

// How a camera was held, by the EXIF data of a WebP file, which OpenCV does not read.
#pragma once

#include <string>

namespace lookout {

// The orientation as exif_orientation() returns it; kUpright when the file is no WebP or has none.
int webp_orientation(const std::string& path);

}  // namespace lookout

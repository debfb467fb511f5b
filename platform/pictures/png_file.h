// PNG files, decoded to the pixels that cv::imread() gives. OpenCV lets libpng print its messages
// to stderr; here they are returned.
#pragma once

#include <optional>
#include <string>

#include "platform/pictures/decoded_file.h"

namespace lookout {

// Nothing when the file is no PNG. libpng's warnings do not concern pixels, but for instance the
// color profile, which is not used. For several threads at a time.
std::optional<DecodedFile> read_png_file(const std::string& path);

}  // namespace lookout

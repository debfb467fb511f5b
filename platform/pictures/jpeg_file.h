// JPEG files, decoded to the pixels that cv::imread() gives. OpenCV lets libjpeg print its warnings
// to stderr, and fills the missing part of a truncated picture with gray; here the warnings are
// returned, and a truncated picture has no pixels.
#pragma once

#include <optional>
#include <string>

#include "platform/pictures/decoded_file.h"

namespace lookout {

// Nothing when the file is no JPEG, or one that is left to OpenCV: with four components (CMYK), or
// larger than OpenCV's limit. For several threads at a time.
std::optional<DecodedFile> read_jpeg_file(const std::string& path);

}  // namespace lookout

// TIFF files, which OpenCV reads without a word when a part of the picture cannot be decoded.
#pragma once

#include <optional>
#include <string_view>

#include "platform/pictures/picture_size.h"

namespace lookout {

// The size of its first picture, as libtiff finds it, which OpenCV decodes with. Empty: it is
// damaged.
std::optional<PictureSize> tiff_size(std::string_view bytes);

// Whether a part of the TIFF cannot be decoded: OpenCV leaves that part black. May throw
// std::bad_alloc.
bool is_damaged_tiff(std::string_view bytes);

}  // namespace lookout

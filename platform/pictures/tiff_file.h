// TIFF files, which OpenCV reads without a word when a part of the picture cannot be decoded.
#pragma once

#include <string>

namespace lookout {

// Whether the file is a TIFF of which a part cannot be decoded: OpenCV leaves that part black. May
// throw std::bad_alloc.
bool is_damaged_tiff(const std::string& path);

}  // namespace lookout

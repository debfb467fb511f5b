// The size of a picture, by the header of its file, before it is decoded.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace lookout {

struct PictureSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

// Of JPEG, PNG, WebP, TIFF, BMP, JPEG 2000, AVIF, PNM, PAM, PFM, Sun raster, Radiance HDR and
// OpenEXR. Empty: none of them, or the header is damaged. Reads little, wherever it is in the file.
std::optional<PictureSize> picture_size(const std::string& path);

// "is too large: 32000x32000 pixels, the limit is 100 megapixels (camera.max-pixels)"
inline std::string too_large(std::int64_t width, std::int64_t height, std::int64_t max_pixels) {
  return fmt::format(
      "is too large: {}x{} pixels, the limit is {:.10g} megapixels (camera.max-pixels)", width,
      height, static_cast<double>(max_pixels) / 1e6);
}

}  // namespace lookout

// The size of a picture, by the header of its file, before it is decoded.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

struct PictureSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

// The size of a TIFF or BMP file, which OpenCV decodes, as its decoder finds it. Empty: it is
// neither of them, or damaged.
std::optional<PictureSize> picture_size(std::string_view bytes);

// Whether the decoders may allocate memory for it. `gain`: that many times the pixels are allowed.
inline bool is_within(const PictureSize& size, const DecodeLimits& limits, std::int64_t gain = 1) {
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 30;  // OpenCV's limit
  const std::int64_t pixels = std::min(limits.pixels, kMaxPixels) * gain;
  return size.width <= limits.side && size.height <= limits.side &&
         (size.height <= 0 || size.width <= pixels / size.height);
}

// The smallest of 1, 2, 4, ... by which the sides are divided so that kReducedPixels remain at
// most; 1 without DecodeLimits::reduce.
inline std::int64_t reducing_scale(const PictureSize& size, const DecodeLimits& limits) {
  std::int64_t scale = 1;
  if (!limits.reduce) return scale;
  while (std::max<std::int64_t>(size.width / scale, 1) *
             std::max<std::int64_t>(size.height / scale, 1) >
         kReducedPixels) {
    scale *= 2;
  }
  return scale;
}

// "is too large: 32000x32000 pixels, the limit is 100 megapixels (camera.max-pixels)", and the
// side, when there is a limit for it.
inline std::string too_large(const PictureSize& size, const DecodeLimits& limits) {
  const bool has_side = limits.side != DecodeLimits{}.side;
  return fmt::format("is too large: {}x{} pixels, the limit is {:.10g} megapixels ({}){}",
                     size.width, size.height, static_cast<double>(limits.pixels) / 1e6, limits.key,
                     has_side ? fmt::format(", and {} a side", limits.side) : "");
}

}  // namespace lookout

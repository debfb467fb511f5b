#include "platform/cameras/color_range.h"

#include <algorithm>

#include "pipeline/core/log.h"

namespace lookout {
namespace {

constexpr int kSamples = 32;           // in each direction
constexpr int kVideoBlack = 16;        // ITU-R BT.601-7, 2.5.3
constexpr int kVideoWhite = 235;       // likewise
constexpr int kOvershoot = 4;          // levels, of sharpening and scaling
constexpr double kManyOutside = 0.01;  // of the pixels

// Of the pictures: all at first, later some, since a scene without black and white tells nothing.
constexpr std::uint64_t kFirstPictures = 30;
constexpr std::uint64_t kLaterStep = 30;

struct Yuv {
  int y;
  int u;
  int v;
};

// Of packed pixels: the places of Y and U in a pair of them.
Yuv packed_at(const RawPicture& picture, int x, int y, int luma, int u, int v) {
  const unsigned char* pair =
      picture.planes[0] + static_cast<std::size_t>(y) * picture.stride + x / 2 * 4;
  return {pair[luma + x % 2 * 2], pair[u], pair[v]};
}

int chroma_at(const RawPicture& picture, std::size_t plane, int x, int y, int step, int offset) {
  const unsigned char* line =
      picture.planes[plane] + static_cast<std::size_t>(y / 2) * plane_stride(picture, plane);
  return line[x / 2 * step + offset];
}

Yuv pixel_at(const RawPicture& picture, int x, int y) {
  switch (picture.format) {
    case RawFormat::kYuyv:
      return packed_at(picture, x, y, 0, 1, 3);
    case RawFormat::kYvyu:
      return packed_at(picture, x, y, 0, 3, 1);
    case RawFormat::kUyvy:
      return packed_at(picture, x, y, 1, 0, 2);
    default:
      break;
  }
  const int luma = picture.planes[0][static_cast<std::size_t>(y) * picture.stride + x];
  if (plane_count(picture.format) == 2) {
    return {luma, chroma_at(picture, 1, x, y, 2, 0), chroma_at(picture, 1, x, y, 2, 1)};
  }
  return {luma, chroma_at(picture, 1, x, y, 1, 0), chroma_at(picture, 2, x, y, 1, 0)};
}

}  // namespace

std::optional<double> luma_outside(const RawPicture& picture) {
  const int step_x = std::max(1, picture.width / kSamples);
  const int step_y = std::max(1, picture.height / kSamples);
  int filled = 0;
  int outside = 0;
  for (int y = 0; y < picture.height; y += step_y) {
    for (int x = 0; x < picture.width; x += step_x) {
      const Yuv pixel = pixel_at(picture, x, y);
      if (pixel.y == 0 && pixel.u == 0 && pixel.v == 0) continue;
      ++filled;
      if (pixel.y < kVideoBlack - kOvershoot || pixel.y > kVideoWhite + kOvershoot) ++outside;
    }
  }
  if (filled == 0) return std::nullopt;
  return static_cast<double>(outside) / filled;
}

bool RangeMeter::is_full(const RawPicture& picture) {
  const bool is_due = pictures_ < kFirstPictures || pictures_ % kLaterStep == 0;
  ++pictures_;
  if (full_ || !is_due) return full_;
  const auto outside = luma_outside(picture);
  if (!outside) return false;
  full_ = *outside >= kManyOutside;
  if (full_ || !logged_) {
    log_info(
        "camera {} declares no color range: the luma of {:.1f} % of the pixels is outside "
        "16..235, so {}",
        camera_, 100 * *outside,
        full_ ? "the full range, 0..255, is taken"
              : "the limited range is taken, until a picture has many of them");
  }
  logged_ = true;
  return full_;
}

}  // namespace lookout

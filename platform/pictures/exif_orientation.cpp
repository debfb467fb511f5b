#include "platform/pictures/exif_orientation.h"

#include <cstdint>
#include <opencv2/core.hpp>

#include "platform/pictures/tiff_numbers.h"

namespace lookout {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;

}  // namespace

int exif_orientation(const unsigned char* data, std::size_t size) {
  const TiffNumbers tiff(data, size);
  if (!tiff.is_valid()) return kUpright;
  const auto value = tiff.find(tiff.first_directory(), kOrientationTag);
  const std::uint32_t orientation = value ? tiff.number(*value, 2) : 0;
  return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : kUpright;
}

void turn_upright(int orientation, cv::Mat& picture) {
  constexpr int kFlipVertically = 0;
  constexpr int kFlipHorizontally = 1;
  constexpr int kFlipBoth = -1;
  if (orientation > 4) cv::transpose(picture, picture);
  switch (orientation) {
    case 2:
    case 6:
      cv::flip(picture, picture, kFlipHorizontally);
      break;
    case 3:
    case 7:
      cv::flip(picture, picture, kFlipBoth);
      break;
    case 4:
    case 8:
      cv::flip(picture, picture, kFlipVertically);
      break;
    default:
      break;
  }
}

}  // namespace lookout

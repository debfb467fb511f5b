#include "platform/pictures/exif_orientation.h"

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <string_view>

namespace lookout {
namespace {

constexpr std::string_view kPrefix{"Exif\0\0", 6};
constexpr std::uint32_t kTiffMark = 42;
constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::size_t kEntry = 12;      // bytes
constexpr std::size_t kEntryValue = 8;  // its place in an entry

// Numbers of a TIFF header in its byte order; 0 beyond its end.
class Tiff {
 public:
  Tiff(const unsigned char* data, std::size_t size)
      : data_(data), size_(size), little_endian_(size > 0 && data[0] == 'I') {}

  std::uint32_t number(std::size_t offset, std::size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value = value << 8U | data_[offset + (little_endian_ ? bytes - 1 - i : i)];
    }
    return value;
  }

  bool is_valid() const {
    const bool order = size_ > 1 && data_[0] == data_[1] && (data_[0] == 'I' || data_[0] == 'M');
    return order && number(2, 2) == kTiffMark;
  }

 private:
  const unsigned char* data_;
  std::size_t size_;
  bool little_endian_;
};

}  // namespace

int exif_orientation(const unsigned char* data, std::size_t size) {
  const std::size_t prefix =
      size >= kPrefix.size() && std::equal(kPrefix.begin(), kPrefix.end(), data) ? kPrefix.size()
                                                                                 : 0;
  const Tiff tiff(data + prefix, size - prefix);
  if (!tiff.is_valid()) return kUpright;
  const std::size_t directory = tiff.number(4, 4);
  const std::uint32_t entries = tiff.number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const std::uint32_t orientation = tiff.number(entry + kEntryValue, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : kUpright;
  }
  return kUpright;
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

#include "platform/pictures/picture_size.h"

#include <cstdint>
#include <cstdlib>

#include "platform/pictures/picture_format.h"
#include "platform/pictures/tiff_file.h"

namespace lookout {
namespace {

using Size = std::optional<PictureSize>;

// Negative heights are of pictures that begin at the top.
Size size_of_bmp(std::string_view bytes) {
  constexpr std::size_t kHeader = 26;
  if (bytes.size() < kHeader) return std::nullopt;
  const auto little = [bytes](std::size_t place, std::size_t count) {
    std::uint32_t value = 0;
    while (count-- > 0) value = value << 8U | static_cast<unsigned char>(bytes[place + count]);
    return value;
  };
  constexpr std::uint32_t kOs2Header = 12;
  if (little(14, 4) == kOs2Header) return PictureSize{little(18, 2), little(20, 2)};
  const auto height = static_cast<std::int32_t>(little(22, 4));
  return PictureSize{static_cast<std::int32_t>(little(18, 4)), std::abs(std::int64_t{height})};
}

}  // namespace

Size picture_size(std::string_view bytes) {
  Size size;
  switch (picture_format(bytes)) {
    case PictureFormat::kTiff:
      size = tiff_size(bytes);
      break;
    case PictureFormat::kBmp:
      size = size_of_bmp(bytes);
      break;
    default:
      break;
  }
  return size && size->width > 0 && size->height > 0 ? size : std::nullopt;
}

}  // namespace lookout

#include "platform/pictures/webp_orientation.h"

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/pictures/exif_orientation.h"

namespace lookout {
namespace {

constexpr std::size_t kName = 4;         // bytes, of a chunk
constexpr std::size_t kChunkHeader = 8;  // its name and size
constexpr std::size_t kFirst = 12;       // behind "RIFF", its size and "WEBP"

std::uint32_t riff_size(std::string_view header) {
  std::uint32_t size = 0;
  std::memcpy(&size, header.data() + kName, sizeof size);
  return le32toh(size);
}

}  // namespace

// Not by libwebpdemux, whose list of chunks may take more than the file.
int webp_orientation(std::string_view bytes) {
  if (bytes.size() < kFirst || bytes.substr(kChunkHeader, kName) != "WEBP") return kUpright;
  std::string_view rest = bytes.substr(kFirst);
  while (rest.size() >= kChunkHeader) {
    const std::size_t size = riff_size(rest);
    const std::string_view content = rest.substr(kChunkHeader, size);
    if (rest.substr(0, kName) == "EXIF") {
      return exif_orientation(reinterpret_cast<const unsigned char*>(content.data()),
                              content.size());
    }
    const std::size_t padded = size + size % 2;  // chunks begin at even places
    if (padded > rest.size() - kChunkHeader) break;
    rest.remove_prefix(kChunkHeader + padded);
  }
  return kUpright;
}

}  // namespace lookout

#include "platform/pictures/unreadable_format.h"

#include <set>
#include <string_view>

#include "platform/system/file_bytes.h"

namespace lookout {

std::optional<std::string> unreadable_format(const std::string& path) {
  FileBytes file(path);
  const std::string start = file.text(0, 24);
  if (start.size() < 24) return std::nullopt;
  const std::string_view bytes = start;
  if (bytes.substr(4, 4) == "ftyp") {
    static const std::set<std::string_view> heic{"heic", "heix", "heim", "heis", "hevc",
                                                 "hevx", "mif1", "msf1", "heif"};
    const std::string_view brand = bytes.substr(8, 4);
    if (heic.count(brand) != 0) {
      return "is a HEIC picture, which is not supported; convert it: heif-convert A.heic A.jpg";
    }
    if (brand == "avif" || brand == "avis") {
      return "is an AVIF picture, which this build cannot read; convert it to JPEG or PNG";
    }
  }
  constexpr unsigned kAnimation = 2;  // of the flags in the header of an extended file
  const bool is_webp = bytes.substr(0, 4) == "RIFF" && bytes.substr(8, 8) == "WEBPVP8X";
  if (is_webp && (static_cast<unsigned char>(bytes[20]) & kAnimation) != 0) {
    return "is an animated WebP, which is not supported; convert it to a GIF or a video";
  }
  return std::nullopt;
}

}  // namespace lookout

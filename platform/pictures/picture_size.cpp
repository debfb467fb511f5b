#include "platform/pictures/picture_size.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <string_view>

#include "platform/system/file_bytes.h"

namespace lookout {
namespace {

using Size = std::optional<PictureSize>;

// Of texts that are searched for a header's fields.
constexpr std::size_t kHead = 64 * 1024;

std::int64_t big(FileBytes& file, std::uint64_t place, std::size_t count) {
  return static_cast<std::int64_t>(file.big_endian(place, count));
}

std::int64_t little(FileBytes& file, std::uint64_t place, std::size_t count) {
  return static_cast<std::int64_t>(file.little_endian(place, count));
}

bool is_frame_header(std::int64_t marker) {
  const bool is_table = marker == 0xffc4 || marker == 0xffc8 || marker == 0xffcc;
  return marker >= 0xffc0 && marker <= 0xffcf && !is_table;
}

bool has_length(std::int64_t marker) {
  return marker != 0xff01 && (marker < 0xffd0 || marker > 0xffd8);
}

// ITU-T T.81, B.1.1.4: segments of a marker and a length, until that of the frame.
Size size_of_jpeg(FileBytes& file) {
  constexpr int kMaxSegments = 10'000;
  std::uint64_t place = 2;
  for (int i = 0; i < kMaxSegments && place + 9 < file.size(); ++i) {
    const std::int64_t marker = big(file, place, 2);
    if (marker == 0xffff) {  // a filling byte
      ++place;
      continue;
    }
    if (is_frame_header(marker)) {
      return PictureSize{big(file, place + 7, 2), big(file, place + 5, 2)};
    }
    if (marker < 0xff00 || marker == 0xffda) return std::nullopt;
    place += 2 + (has_length(marker) ? file.big_endian(place + 2, 2) : 0);
  }
  return std::nullopt;
}

Size size_of_webp(FileBytes& file) {
  const std::string kind = file.text(12, 4);
  if (kind == "VP8X") return PictureSize{little(file, 24, 3) + 1, little(file, 27, 3) + 1};
  constexpr std::int64_t k14Bits = 0x3fff;
  if (kind == "VP8 ") {
    return PictureSize{little(file, 26, 2) & k14Bits, little(file, 28, 2) & k14Bits};
  }
  if (kind != "VP8L") return std::nullopt;
  const std::int64_t bits = little(file, 21, 4);
  return PictureSize{(bits & k14Bits) + 1, (bits >> 14 & k14Bits) + 1};
}

// The numbers of a TIFF file, in its byte order; of BigTIFF, some are longer.
class Tiff {
 public:
  explicit Tiff(FileBytes& file)
      : file_(file), is_little_(file.text(0, 1) == "I"), is_big_(number(2, 2) == 43) {}

  // The numbered fields of the first directory, in no order.
  PictureSize size() {
    constexpr std::uint64_t kMaxFields = 1000;
    constexpr std::uint64_t kWidth = 256;
    constexpr std::uint64_t kHeight = 257;
    const std::uint64_t directory = is_big_ ? number(8, 8) : number(4, 4);
    const std::uint64_t count = number(directory, is_big_ ? 8 : 2);
    PictureSize size;
    for (std::uint64_t i = 0; i < std::min(count, kMaxFields); ++i) {
      const std::uint64_t field = directory + (is_big_ ? 8 + 20 * i : 2 + 12 * i);
      const std::uint64_t tag = number(field, 2);
      if (tag == kWidth) size.width = value(field);
      if (tag == kHeight) size.height = value(field);
    }
    return size;
  }

 private:
  std::uint64_t number(std::uint64_t place, std::size_t count) {
    return is_little_ ? file_.little_endian(place, count) : file_.big_endian(place, count);
  }
  std::int64_t value(std::uint64_t field) {
    constexpr std::uint64_t kShort = 3;
    const std::size_t bytes = number(field + 2, 2) == kShort ? 2 : 4;
    return static_cast<std::int64_t>(number(field + (is_big_ ? 12 : 8), bytes));
  }

  FileBytes& file_;
  const bool is_little_;
  const bool is_big_;
};

// TIFF 6.0.
Size size_of_tiff(FileBytes& file) {
  const PictureSize size = Tiff(file).size();
  return size.width > 0 && size.height > 0 ? Size(size) : std::nullopt;
}

Size size_of_png(FileBytes& file) { return PictureSize{big(file, 16, 4), big(file, 20, 4)}; }

Size size_of_sun_raster(FileBytes& file) { return PictureSize{big(file, 4, 4), big(file, 8, 4)}; }

// Negative heights are of pictures that begin at the top.
Size size_of_bmp(FileBytes& file) {
  constexpr std::uint64_t kOs2Header = 12;
  if (file.little_endian(14, 4) == kOs2Header) {
    return PictureSize{little(file, 18, 2), little(file, 20, 2)};
  }
  const auto height = static_cast<std::int32_t>(file.little_endian(22, 4));
  return PictureSize{little(file, 18, 4), std::abs(std::int64_t{height})};
}

// ITU-T T.800, A.5.1: the codestream's marker SIZ, alone or in boxes.
Size size_of_jpeg2000(FileBytes& file) {
  const std::string head = file.text(0, kHead);
  const auto start = head.find(std::string_view("\xff\x4f\xff\x51", 4));
  if (start == std::string::npos) return std::nullopt;
  return PictureSize{big(file, start + 8, 4) - big(file, start + 16, 4),
                     big(file, start + 12, 4) - big(file, start + 20, 4)};
}

// The largest of the items, for a grid has small ones.
Size size_of_avif(FileBytes& file) {
  const std::string head = file.text(0, kHead);
  PictureSize size;
  for (auto at = head.find("ispe"); at != std::string::npos; at = head.find("ispe", at + 1)) {
    size.width = std::max(size.width, big(file, at + 8, 4));
    size.height = std::max(size.height, big(file, at + 12, 4));
  }
  return size.width > 0 ? Size(size) : std::nullopt;
}

Size size_of_exr(FileBytes& file) {
  const std::string head = file.text(0, kHead);
  constexpr std::string_view kName("dataWindow\0box2i\0", 17);
  const auto at = head.find(kName);
  if (at == std::string::npos) return std::nullopt;
  const auto number = [&](std::uint64_t index) {
    return std::int64_t{
        static_cast<std::int32_t>(file.little_endian(at + kName.size() + 4 + 4 * index, 4))};
  };
  return PictureSize{number(2) - number(0) + 1, number(3) - number(1) + 1};
}

// Formats whose header is text: `width` and `height` are the numbers of the groups.
Size size_in_text(FileBytes& file, const std::regex& header, int width, int height) {
  const std::string head = file.text(0, 4096);
  std::smatch match;
  if (!std::regex_search(head, match, header, std::regex_constants::match_continuous)) {
    return std::nullopt;
  }
  return PictureSize{std::strtoll(match[width].str().c_str(), nullptr, 10),
                     std::strtoll(match[height].str().c_str(), nullptr, 10)};
}

Size size_of_hdr(FileBytes& file) {
  static const std::regex header(R"(#\?R(?:[^\n]*\n)*?-Y\s+(\d+)\s+\+X\s+(\d+))");
  return size_in_text(file, header, 2, 1);
}

Size size_of_netpbm(FileBytes& file) {
  static const std::regex pnm(R"(P[1-6fF](?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+))");
  static const std::regex pam(R"(P7\s(?:#[^\n]*\n)*WIDTH\s+(\d+)\s+HEIGHT\s+(\d+))");
  return size_in_text(file, file.text(1, 1) == "7" ? pam : pnm, 1, 2);
}

struct Format {
  std::size_t place;
  std::string_view signature;
  Size (*size)(FileBytes& file);
};

constexpr std::array<Format, 14> kPictureFormats{{{0, "\xff\xd8\xff", size_of_jpeg},
                                                  {0, "\x89PNG", size_of_png},
                                                  {0, "RIFF", size_of_webp},
                                                  {0, "II", size_of_tiff},
                                                  {0, "MM", size_of_tiff},
                                                  {0, "BM", size_of_bmp},
                                                  {4, "jP  ", size_of_jpeg2000},
                                                  {0, "\xff\x4f\xff\x51", size_of_jpeg2000},
                                                  {4, "ftypavi", size_of_avif},
                                                  {0, "\x76\x2f\x31\x01", size_of_exr},
                                                  {0, "\x59\xa6\x6a\x95", size_of_sun_raster},
                                                  {0, "#?R", size_of_hdr},
                                                  {0, "P", size_of_netpbm},
                                                  {0, "", nullptr}}};

}  // namespace

Size picture_size(const std::string& path) {
  FileBytes file(path);
  const std::string start = file.text(0, 16);
  constexpr std::size_t kMinHeader = 8;
  if (start.size() < kMinHeader) return std::nullopt;
  const auto format =
      std::find_if(kPictureFormats.begin(), kPictureFormats.end(), [&](const Format& each) {
        return start.compare(each.place, each.signature.size(), each.signature) == 0;
      });
  return format->size == nullptr ? std::nullopt : format->size(file);
}

}  // namespace lookout

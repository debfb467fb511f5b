#include "platform/sources/container_size.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "platform/system/file_bytes.h"

namespace lookout {
namespace {

bool exceeds(std::uint64_t place, std::uint64_t count, const FileBytes& file) {
  return count > file.size() - place;
}

bool is_mp4_box(const std::string& type) {
  static const std::set<std::string> types{"ftyp", "styp", "moov", "moof", "mdat", "sidx",
                                           "mfra", "free", "skip", "wide", "meta", "uuid"};
  return types.count(type) != 0;
}

// ISO/IEC 14496-12, 4.2: boxes of a size and a type, each with a size of 32 or 64 bits; a size of 0
// reaches to the end. Other data may follow the last box.
bool is_cut_mp4(FileBytes& file) {
  constexpr std::uint64_t kHeader = 8;
  constexpr std::uint64_t kLongHeader = 16;
  constexpr int kMaxBoxes = 1'000'000;  // a day of fragments of half a second has 350,000
  std::uint64_t place = 0;
  for (int i = 0; i < kMaxBoxes; ++i) {
    if (file.size() - place < kHeader) return false;
    std::uint64_t size = file.big_endian(place, 4);  // forwards, as FileBytes reads
    if (!is_mp4_box(file.text(place + 4, 4))) return false;
    const bool is_long = size == 1;
    if (is_long) size = file.big_endian(place + kHeader, 8);
    if (size < (is_long ? kLongHeader : kHeader)) return false;  // to the end, or no box
    if (exceeds(place, size, file)) return true;
    place += size;
  }
  return false;
}

// RFC 8794, 4: the number of leading zero bits is the number of bytes that follow the first.
std::size_t ebml_bytes(std::uint64_t first) {
  std::size_t bytes = 1;
  for (std::uint64_t bit = 0x80; bit != 0 && (first & bit) == 0; bit >>= 1U) ++bytes;
  return bytes;
}

// Moves `place` behind the number there. Empty: unknown, or not a number.
std::optional<std::uint64_t> ebml_size(FileBytes& file, std::uint64_t& place) {
  constexpr std::size_t kMaxBytes = 8;
  const std::size_t bytes = ebml_bytes(file.big_endian(place, 1));
  if (bytes > kMaxBytes) return std::nullopt;
  const std::uint64_t all_ones = (std::uint64_t{1} << (7 * bytes)) - 1;
  const std::uint64_t size = file.big_endian(place, bytes) & all_ones;
  place += bytes;
  if (size == all_ones) return std::nullopt;
  return size;
}

// RFC 9559, 4.5: an EBML header, then one segment with everything else.
bool is_cut_matroska(FileBytes& file) {
  constexpr std::uint64_t kIdSize = 4;
  std::uint64_t place = kIdSize;
  const auto header = ebml_size(file, place);
  if (!header || exceeds(place, *header, file)) return false;
  place += *header;
  if (file.text(place, kIdSize) != "\x18\x53\x80\x67") return false;
  place += kIdSize;
  const auto segment = ebml_size(file, place);
  return segment && place <= file.size() && exceeds(place, *segment, file);
}

// Lists one after the other, the first of the type "AVI ", those after 1 GB "AVIX". Recorders that
// were stopped leave a size of 0.
bool is_cut_avi(FileBytes& file) {
  constexpr std::uint64_t kHeader = 8;
  std::uint64_t place = 0;
  while (file.size() - place >= kHeader && file.text(place, 4) == "RIFF") {
    const std::uint64_t size = file.little_endian(place + 4, 4);
    if (size == 0 || size == UINT32_MAX) return false;
    if (exceeds(place + kHeader, size, file)) return true;
    const std::uint64_t even = size + size % 2;
    if (exceeds(place + kHeader, even, file)) return false;
    place += kHeader + even;
  }
  return false;
}

}  // namespace

bool is_cut(const std::string& path) {
  FileBytes file(path);
  const std::string start = file.text(0, 12);
  if (start.size() < 12) return false;
  const std::string_view bytes = start;
  if (is_mp4_box(start.substr(4, 4))) return is_cut_mp4(file);
  if (bytes.substr(0, 4) == "\x1a\x45\xdf\xa3") return is_cut_matroska(file);
  if (bytes.substr(0, 4) == "RIFF" && bytes.substr(8, 4) == "AVI ") return is_cut_avi(file);
  return false;
}

}  // namespace lookout

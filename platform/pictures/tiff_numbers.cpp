#include "platform/pictures/tiff_numbers.h"

#include <algorithm>
#include <string_view>

namespace lookout {
namespace {

constexpr std::string_view kPrefix{"Exif\0\0", 6};
constexpr std::uint32_t kTiffMark = 42;
constexpr std::size_t kEntry = 12;      // bytes
constexpr std::size_t kEntryValue = 8;  // its place in an entry

}  // namespace

TiffNumbers::TiffNumbers(const unsigned char* data, std::size_t size) : data_(data), size_(size) {
  if (size >= kPrefix.size() && std::equal(kPrefix.begin(), kPrefix.end(), data)) {
    data_ += kPrefix.size();
    size_ -= kPrefix.size();
  }
  little_endian_ = size_ > 0 && data_[0] == 'I';
}

std::uint32_t TiffNumbers::number(std::size_t offset, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value = value << 8U | data_[offset + (little_endian_ ? bytes - 1 - i : i)];
  }
  return value;
}

bool TiffNumbers::is_valid() const {
  const bool order = size_ > 1 && data_[0] == data_[1] && (data_[0] == 'I' || data_[0] == 'M');
  return order && number(2, 2) == kTiffMark;
}

std::optional<std::size_t> TiffNumbers::find(std::size_t directory, std::uint32_t tag) const {
  const std::uint32_t entries = number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (number(entry, 2) == tag) return entry + kEntryValue;
  }
  return std::nullopt;
}

}  // namespace lookout

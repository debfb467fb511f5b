// Numbers and directories of TIFF data, which EXIF data are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lookout {

class TiffNumbers {
 public:
  // `data`: a TIFF header and what follows it, after "Exif\0\0" or without that. It outlives this.
  TiffNumbers(const unsigned char* data, std::size_t size);

  bool is_valid() const;

  // The number of so many bytes at the offset; 0 beyond the end.
  std::uint32_t number(std::size_t offset, std::size_t bytes) const;

  // The offset of the first directory.
  std::size_t first_directory() const { return number(4, 4); }
  // The offset of the value of a tag's entry in a directory; nothing when it has no such tag.
  std::optional<std::size_t> find(std::size_t directory, std::uint32_t tag) const;

 private:
  const unsigned char* data_;
  std::size_t size_;
  bool little_endian_;
};

}  // namespace lookout

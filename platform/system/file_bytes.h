// Numbers and texts anywhere in a file, for readers of file formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace lookout {

// Reads a window of the file at a time, so that neighbouring places cost little. What lies beyond
// the end is missing: a text is shorter, a number has fewer bytes.
class FileBytes {
 public:
  // A file that cannot be opened is empty.
  explicit FileBytes(const std::string& path);

  std::uint64_t size() const { return size_; }

  // `count`: at most 64 KB.
  std::string text(std::uint64_t place, std::size_t count);

  // `count`: at most 8 bytes.
  std::uint64_t big_endian(std::uint64_t place, std::size_t count);
  std::uint64_t little_endian(std::uint64_t place, std::size_t count);

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::string window_;
  std::uint64_t window_place_ = 0;
};

}  // namespace lookout

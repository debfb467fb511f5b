// Reads a ZIP file in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace lookout {

class ZipReader {
 public:
  struct Member {
    std::string name;         // as it stands in the file, so that it may hold any bytes
    std::uint64_t bytes = 0;  // unpacked, as the file says
  };

  // `bytes` outlive this.
  explicit ZipReader(std::string_view bytes);
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // Unpacks every member in pieces: `begin` gets each member, and the function that it returns the
  // pieces; an empty one skips them. Returns the damage in words that follow "the file", or an
  // empty text. Checksums are compared. Passes on what the functions throw.
  using TakePiece = std::function<void(std::string_view piece)>;
  std::string read(const std::function<TakePiece(const Member& member)>& begin);

 private:
  struct Memory {
    std::string_view bytes;
    std::size_t position = 0;
  };
  struct Functions;  // of minizip, on Memory

  bool read_member(std::uint64_t bytes, const TakePiece& take);

  Memory memory_;
  std::unique_ptr<void, int (*)(void*)> zip_;
  std::array<char, 1 << 16> piece_{};
};

}  // namespace lookout

// Reads what a shared library says of itself, without loading it.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// What a damaged file says may be wrong, but reading it is safe.
class ElfFile {
 public:
  // Maps the file. Throws Error(kNoInput) or Error(kPermission), whose sentence begins with `what`.
  ElfFile(const std::string& what, const std::string& path);

  // Whether it is a shared library of 64 bits, whatever the processor.
  bool is_library() const { return header_.has_value(); }
  // Whether this program could load it. Of a library.
  bool is_for_this_processor() const;

  // The libraries that it was linked with: "libc10.so".
  std::vector<std::string> needed() const;
  // Whether others can use the symbol.
  bool exports(std::string_view symbol) const;
  // The characters that an exported array holds before the first NUL; nothing when there is no such
  // symbol in the file.
  std::optional<std::string> text_of(std::string_view symbol) const;

 private:
  struct Unmap {
    std::size_t size;
    void operator()(char* bytes) const;
  };

  std::string_view bytes() const { return {bytes_.get(), size_}; }
  // Nothing beyond the end of the file.
  template <typename T>
  std::optional<T> at(std::uint64_t offset) const;
  template <typename T>
  std::vector<T> table(const Elf64_Shdr& section) const;
  std::optional<Elf64_Shdr> section_of_type(std::uint32_t type) const;
  std::optional<Elf64_Shdr> section(std::uint64_t index) const;
  std::string text_at(std::uint64_t offset) const;
  std::string name_in(std::uint64_t names, std::uint64_t name) const;
  std::optional<Elf64_Sym> find(std::string_view symbol) const;

  std::unique_ptr<char, Unmap> bytes_;
  std::size_t size_ = 0;
  std::optional<Elf64_Ehdr> header_;
};

}  // namespace lookout

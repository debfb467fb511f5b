// Reads the ELF headers of a shared library, without loading it.
#pragma once

#include <gelf.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/open_file.h"

namespace lookout {

// What a damaged file says may be wrong, but reading it is safe.
class ElfFile {
 public:
  // Opens the file. Throws Error(kNoInput) or Error(kPermission), whose sentence begins with
  // `what`.
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
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  Elf_Scn* section_of_type(GElf_Word type) const;
  std::optional<GElf_Sym> find(std::string_view symbol) const;

  OpenFile file_;  // which elf_ reads
  std::unique_ptr<Elf, End> elf_;
  std::optional<GElf_Ehdr> header_;
};

}  // namespace lookout

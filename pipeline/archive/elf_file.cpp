#include "pipeline/archive/elf_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

#ifdef __aarch64__
constexpr GElf_Half kMachine = EM_AARCH64;
#else
constexpr GElf_Half kMachine = EM_X86_64;
#endif

[[noreturn]] void fail_to_read(const std::string& what, int reason) {
  if (reason == ENOENT || reason == ENOTDIR) throw Error(ErrorKind::kNoInput, what + " is missing");
  throw Error(reason == EACCES ? ErrorKind::kPermission : ErrorKind::kNoInput,
              what + " cannot be read: " + std::generic_category().message(reason));
}

std::optional<GElf_Ehdr> header_of_library(Elf* elf) {
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
      gelf_getehdr(elf, &header) == nullptr || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN) {
    return std::nullopt;
  }
  return header;
}

std::optional<GElf_Shdr> header_of(Elf_Scn* section) {
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return std::nullopt;
  return header;
}

}  // namespace

ElfFile::ElfFile(const std::string& what, const std::string& path) : file_(path) {
  struct stat status {};
  if (file_.fd() < 0 || fstat(file_.fd(), &status) != 0) fail_to_read(what, errno);
  if (!S_ISREG(status.st_mode)) return;
  elf_version(EV_CURRENT);
  elf_.reset(elf_begin(file_.fd(), ELF_C_READ, nullptr));
  header_ = header_of_library(elf_.get());
}

bool ElfFile::is_for_this_processor() const { return header_ && header_->e_machine == kMachine; }

Elf_Scn* ElfFile::section_of_type(GElf_Word type) const {
  for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf_.get(), section)) {
    const auto header = header_of(section);
    if (header && header->sh_type == type) return section;
  }
  return nullptr;
}

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> libraries;
  Elf_Scn* const dynamic = section_of_type(SHT_DYNAMIC);
  const auto header = header_of(dynamic);
  if (!header) return libraries;
  Elf_Data* const data = elf_getdata(dynamic, nullptr);
  GElf_Dyn entry;
  for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag != DT_NEEDED) continue;
    const char* name = elf_strptr(elf_.get(), header->sh_link, entry.d_un.d_val);
    if (name != nullptr) libraries.emplace_back(name);
  }
  return libraries;
}

std::optional<GElf_Sym> ElfFile::find(std::string_view symbol) const {
  Elf_Scn* const symbols = section_of_type(SHT_DYNSYM);
  const auto header = header_of(symbols);
  if (!header) return std::nullopt;
  Elf_Data* const data = elf_getdata(symbols, nullptr);
  GElf_Sym entry;
  for (int i = 0; gelf_getsym(data, i, &entry) != nullptr; ++i) {
    const char* name = elf_strptr(elf_.get(), header->sh_link, entry.st_name);
    if (entry.st_shndx != SHN_UNDEF && name != nullptr && name == symbol) return entry;
  }
  return std::nullopt;
}

bool ElfFile::exports(std::string_view symbol) const { return find(symbol).has_value(); }

std::optional<std::string> ElfFile::text_of(std::string_view symbol) const {
  const auto found = find(symbol);
  Elf_Scn* const holder = found ? elf_getscn(elf_.get(), found->st_shndx) : nullptr;
  const auto header = header_of(holder);
  if (!header || header->sh_type != SHT_PROGBITS) return std::nullopt;
  const Elf_Data* data = elf_getdata(holder, nullptr);
  const GElf_Addr offset = found->st_value - header->sh_addr;
  if (data == nullptr || data->d_buf == nullptr || offset >= data->d_size) return std::nullopt;
  constexpr std::size_t kMaxText = 4096;
  const std::string_view text(static_cast<const char*>(data->d_buf) + offset,
                              std::min<std::size_t>(data->d_size - offset, kMaxText));
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace lookout

#include "pipeline/model/elf_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "pipeline/error.h"
#include "pipeline/open_file.h"

namespace lookout {
namespace {

#ifdef __aarch64__
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_X86_64;
#endif

[[noreturn]] void fail_to_read(const std::string& what, int reason) {
  if (reason == ENOENT || reason == ENOTDIR) throw Error(ErrorKind::kNoInput, what + " is missing");
  throw Error(reason == EACCES ? ErrorKind::kPermission : ErrorKind::kNoInput,
              what + " cannot be read: " + std::generic_category().message(reason));
}

}  // namespace

void ElfFile::Unmap::operator()(char* bytes) const { munmap(bytes, size); }

ElfFile::ElfFile(const std::string& what, const std::string& path) : bytes_(nullptr, Unmap{0}) {
  const OpenFile file(path);
  struct stat status {};
  if (file.fd() < 0 || fstat(file.fd(), &status) != 0) fail_to_read(what, errno);
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (memory == MAP_FAILED) fail_to_read(what, errno);
  bytes_ = {static_cast<char*>(memory), Unmap{size}};
  size_ = size;
  const auto header = at<Elf64_Ehdr>(0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  if (is_elf && header->e_ident[EI_CLASS] == ELFCLASS64 &&
      header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_DYN) {
    header_ = header;
  }
}

template <typename T>
std::optional<T> ElfFile::at(std::uint64_t offset) const {
  if (offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes_.get() + offset, sizeof(T));
  return value;
}

template <typename T>
std::vector<T> ElfFile::table(const Elf64_Shdr& section) const {
  std::vector<T> entries;
  for (std::uint64_t read = 0; read + sizeof(T) <= section.sh_size; read += sizeof(T)) {
    const auto entry = at<T>(section.sh_offset + read);
    if (!entry) break;
    entries.push_back(*entry);
  }
  return entries;
}

std::optional<Elf64_Shdr> ElfFile::section(std::uint64_t index) const {
  if (!header_ || index >= header_->e_shnum) return std::nullopt;
  return at<Elf64_Shdr>(header_->e_shoff + index * sizeof(Elf64_Shdr));
}

std::optional<Elf64_Shdr> ElfFile::section_of_type(std::uint32_t type) const {
  for (std::uint64_t i = 0; header_ && i < header_->e_shnum; ++i) {
    const auto found = section(i);
    if (found && found->sh_type == type) return found;
  }
  return std::nullopt;
}

std::string ElfFile::text_at(std::uint64_t offset) const {
  if (offset >= size_) return {};
  constexpr std::size_t kMaxText = 4096;
  const std::string_view rest = bytes().substr(offset, kMaxText);
  return std::string(rest.substr(0, std::min(rest.find('\0'), rest.size())));
}

std::string ElfFile::name_in(std::uint64_t names, std::uint64_t name) const {
  const auto strings = section(names);
  return strings ? text_at(strings->sh_offset + name) : std::string();
}

bool ElfFile::is_for_this_processor() const { return header_ && header_->e_machine == kMachine; }

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> libraries;
  const auto dynamic = section_of_type(SHT_DYNAMIC);
  if (!dynamic) return libraries;
  for (const Elf64_Dyn& entry : table<Elf64_Dyn>(*dynamic)) {
    if (entry.d_tag == DT_NEEDED) libraries.push_back(name_in(dynamic->sh_link, entry.d_un.d_val));
  }
  return libraries;
}

std::optional<Elf64_Sym> ElfFile::find(std::string_view symbol) const {
  const auto symbols = section_of_type(SHT_DYNSYM);
  if (!symbols) return std::nullopt;
  for (const Elf64_Sym& entry : table<Elf64_Sym>(*symbols)) {
    if (entry.st_shndx != SHN_UNDEF && name_in(symbols->sh_link, entry.st_name) == symbol)
      return entry;
  }
  return std::nullopt;
}

bool ElfFile::exports(std::string_view symbol) const { return find(symbol).has_value(); }

std::optional<std::string> ElfFile::text_of(std::string_view symbol) const {
  const auto found = find(symbol);
  const auto holder = found ? section(found->st_shndx) : std::nullopt;
  if (!holder || holder->sh_type != SHT_PROGBITS) return std::nullopt;
  return text_at(holder->sh_offset + (found->st_value - holder->sh_addr));
}

}  // namespace lookout

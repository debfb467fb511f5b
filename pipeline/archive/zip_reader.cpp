#include "pipeline/archive/zip_reader.h"

#include <minizip/unzip.h>

#include <algorithm>

namespace lookout {
namespace {

constexpr std::size_t kMaxName = 1 << 16;  // bytes; the format's own limit

// A name for a message. It may be damaged.
std::string quoted_name(const std::string& name) {
  std::string text = name.substr(0, 255);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

// The signatures are minizip's.
struct ZipReader::Functions {
  static void* open(void* memory, const void* /*name*/, int /*mode*/) { return memory; }

  static uLong read(void* /*opaque*/, void* stream, void* to, uLong size) {
    Memory& memory = *static_cast<Memory*>(stream);
    const std::size_t count = std::min<std::size_t>(size, memory.bytes.size() - memory.position);
    memory.bytes.copy(static_cast<char*>(to), count, memory.position);
    memory.position += count;
    return count;
  }

  static ZPOS64_T tell(void* /*opaque*/, void* stream) {
    return static_cast<const Memory*>(stream)->position;
  }

  static long seek(void* /*opaque*/, void* stream, ZPOS64_T offset, int origin) {
    Memory& memory = *static_cast<Memory*>(stream);
    const ZPOS64_T base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                          : origin == ZLIB_FILEFUNC_SEEK_CUR ? memory.position
                                                             : memory.bytes.size();
    if (base + offset > memory.bytes.size()) return -1;  // wraps around for negative offsets
    memory.position = base + offset;
    return 0;
  }

  static int close(void* /*opaque*/, void* /*stream*/) { return 0; }
  static int error(void* /*opaque*/, void* /*stream*/) { return 0; }
};

ZipReader::ZipReader(std::string_view bytes) : memory_{bytes, 0}, zip_(nullptr, unzClose) {
  zlib_filefunc64_def functions{Functions::open,  Functions::read, nullptr,
                                Functions::tell,  Functions::seek, Functions::close,
                                Functions::error, &memory_};
  zip_.reset(unzOpen2_64("", &functions));
}

// Reads to the end, since minizip compares the checksum there, but only of as many bytes as it was
// promised: damaged data may end before.
bool ZipReader::read_member(std::uint64_t bytes, const TakePiece& take) {
  if (unzOpenCurrentFile(zip_.get()) != UNZ_OK) return false;
  std::uint64_t sum = 0;
  int read = 0;
  while ((read = unzReadCurrentFile(zip_.get(), piece_.data(),
                                    static_cast<unsigned>(piece_.size()))) > 0) {
    sum += static_cast<std::uint64_t>(read);
    if (take) take({piece_.data(), static_cast<std::size_t>(read)});
  }
  return unzCloseCurrentFile(zip_.get()) == UNZ_OK && read == 0 && sum == bytes;
}

std::string ZipReader::read(const std::function<TakePiece(const Member& member)>& begin) {
  if (zip_ == nullptr) return "is not a ZIP file";
  std::string name(kMaxName, '\0');
  int status = unzGoToFirstFile(zip_.get());
  for (; status == UNZ_OK; status = unzGoToNextFile(zip_.get())) {
    unz_file_info64 info{};
    if (unzGetCurrentFileInfo64(zip_.get(), &info, name.data(), name.size(), nullptr, 0, nullptr,
                                0) != UNZ_OK) {
      break;
    }
    const Member member{name.substr(0, info.size_filename), info.uncompressed_size};
    if (!read_member(member.bytes, begin(member)))
      return "holds a damaged " + quoted_name(member.name);
  }
  return status == UNZ_END_OF_LIST_OF_FILE ? "" : "has a damaged list of contents";
}

}  // namespace lookout

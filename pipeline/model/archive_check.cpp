#include "pipeline/model/archive_check.h"

#include <minizip/unzip.h>

#include <array>
#include <cctype>
#include <memory>
#include <vector>

namespace lookout {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // bytes

// The name of the current member for a message. The name itself may be damaged.
std::string member_name(unzFile zip) {
  std::array<char, 256> name{};
  if (unzGetCurrentFileInfo64(zip, nullptr, name.data(), name.size() - 1, nullptr, 0, nullptr, 0) !=
      UNZ_OK) {
    return "?";
  }
  std::string text = name.data();
  for (char& c : text) {
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  }
  return text;
}

// Reads to the end, since minizip compares the checksum there.
bool is_whole(unzFile zip, std::vector<char>& block) {
  if (unzOpenCurrentFile(zip) != UNZ_OK) return false;
  int read = 0;
  do {
    read = unzReadCurrentFile(zip, block.data(), static_cast<unsigned>(block.size()));
  } while (read > 0);
  return unzCloseCurrentFile(zip) == UNZ_OK && read == 0;
}

}  // namespace

std::string find_damage(const std::filesystem::path& archive) {
  const std::unique_ptr<void, decltype(&unzClose)> owner(unzOpen64(archive.c_str()), unzClose);
  unzFile zip = owner.get();
  if (zip == nullptr) return "is not a ZIP file";
  std::vector<char> block(kBlock);
  int status = unzGoToFirstFile(zip);
  for (; status == UNZ_OK; status = unzGoToNextFile(zip)) {
    if (!is_whole(zip, block)) return "holds a damaged " + member_name(zip);
  }
  return status == UNZ_END_OF_LIST_OF_FILE ? "" : "has a damaged list of contents";
}

}  // namespace lookout

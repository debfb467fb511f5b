#include "platform/teach/opened_library.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "platform/system/damaged_copies.h"
#include "platform/system/sqlite.h"
#include "platform/system/state_folder.h"
#include "platform/teach/embedding_cache.h"

namespace lookout {

namespace fs = std::filesystem;

OpenedLibrary open_library(const fs::path& folder, const TeachLimits& limits) {
  try {
    return {std::make_unique<TeachLibrary>(folder, limits), {}};
  } catch (const SqliteError& error) {
    if (!error.is_damage()) throw;
    fs::path aside;
    {
      const FolderLock lock(folder);
      aside = set_database_aside(folder / kTeachFile, kMaxDamaged);
      EmbeddingCache::remove(folder);
    }
    return {std::make_unique<TeachLibrary>(folder, limits), error.what(), aside};
  }
}

std::string note_of_damaged(const fs::path& folder) {
  constexpr double kBytesOfMb = 1e6;
  const std::vector<DamagedCopy> copies = damaged_copies(folder / kTeachFile);
  if (copies.empty()) return {};
  std::uintmax_t bytes = 0;
  for (const DamagedCopy& copy : copies) bytes += copy.bytes;
  return fmt::format(
      "{} damaged {} kept, {:.1f} MB: {}/*.damaged* can be removed when nobody wants to mend "
      "what was taught there",
      copies.size(), copies.size() == 1 ? "library is" : "libraries are",
      static_cast<double>(bytes) / kBytesOfMb, folder.string());
}

}  // namespace lookout
